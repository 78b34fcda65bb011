package pgfunc

import (
	"math"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/eval/libm"
	"github.com/lhsql/lhsql/types"
)

func trigonometry() {
	finite := func(name string, f func(float64) float64) eval.Func {
		return eval.Immutable(name, eval.Sig(types.Float8), eval.TFloat8, eval.Try1(func(x float64) (float64, error) {
			if math.IsInf(x, 0) {
				return 0, errInputRange()
			}
			return f(x), nil
		}))
	}
	within := func(name string, ok func(float64) bool, f func(float64) float64) eval.Func {
		return eval.Immutable(name, eval.Sig(types.Float8), eval.TFloat8, eval.Try1(func(x float64) (float64, error) {
			if !math.IsNaN(x) && !ok(x) {
				return 0, errInputRange()
			}
			return f(x), nil
		}))
	}
	plain := func(name string, f func(float64) float64) eval.Func {
		return eval.Immutable(name, eval.Sig(types.Float8), eval.TFloat8, eval.Fn1(f)).NeverFails()
	}
	unit := func(x float64) bool { return x >= -1 && x <= 1 }
	eval.Register(
		finite("sin", libm.Sin), finite("cos", libm.Cos), finite("tan", libm.Tan),
		finite("cot", func(x float64) float64 { return 1 / libm.Tan(x) }),
		within("asin", unit, libm.Asin), within("acos", unit, libm.Acos), plain("atan", libm.Atan),
		eval.Immutable("atan2", eval.Sig(types.Float8, types.Float8), eval.TFloat8, eval.Fn2(libm.Atan2)).NeverFails(),
		eval.Immutable("atan2d", eval.Sig(types.Float8, types.Float8), eval.TFloat8, eval.Fn2(func(y, x float64) float64 { return libm.Atan2(y, x) / atan1 * 45 })).NeverFails(),
		finite("sind", sind), finite("cosd", cosd), finite("tand", tand),
		finite("cotd", cotd),
		within("asind", unit, func(x float64) float64 { return asind(x) }),
		within("acosd", unit, func(x float64) float64 { return acosd(x) }),
		plain("atand", func(x float64) float64 { return libm.Atan(x) / atan1 * 45 }),
		eval.Immutable("sinh", eval.Sig(types.Float8), eval.TFloat8, eval.Fn1(libm.Sinh)).NeverFails(),
		eval.Immutable("cosh", eval.Sig(types.Float8), eval.TFloat8, eval.Fn1(libm.Cosh)).NeverFails(),
		plain("tanh", libm.Tanh), plain("asinh", libm.Asinh),
		within("acosh", func(x float64) bool { return x >= 1 }, libm.Acosh),
		within("atanh", unit, libm.Atanh),
	)
}

// The functions in degrees are exact at multiples of 30 and 45 degrees: they divide by the
// function's own value at such a point instead of converting to radians (float.c).
var (
	atan1 = libm.Atan(1)
	// Not a constant: the product must be rounded as it is for any other x.
	perDegree = math.Pi / 180
	sin30     = libm.Sin(30 * perDegree)
	cos60     = 1 - libm.Cos(60*perDegree)
)

// sin0to30 and cos0to60 are exact at both ends.
func sin0to30(x float64) float64 { return libm.Sin(x*perDegree) / sin30 / 2 }
func cos0to60(x float64) float64 { return 1 - (1-libm.Cos(x*perDegree))/cos60/2 }

func sin0to90(x float64) float64 {
	if x <= 30 {
		return sin0to30(x)
	}
	return cos0to60(90 - x)
}

func cos0to90(x float64) float64 {
	if x <= 60 {
		return cos0to60(x)
	}
	return sin0to30(90 - x)
}

// quadrant reduces x to 0…90 degrees with the signs of sine and cosine.
func quadrant(x float64) (r, sin, cos float64) {
	sin, cos = 1, 1
	x = math.Mod(x, 360)
	if x < 0 {
		x, sin = -x, -1
	}
	if x > 180 {
		x, sin = 360-x, -sin
	}
	if x > 90 {
		x, cos = 180-x, -1
	}
	return x, sin, cos
}

func sind(x float64) float64 {
	r, sign, _ := quadrant(x)
	return sign * sin0to90(r)
}

func cosd(x float64) float64 {
	r, _, sign := quadrant(x)
	return sign * cos0to90(r)
}

func tand(x float64) float64 {
	r, s, c := quadrant(x)
	t := s * c * ((sin0to90(r) / cos0to90(r)) / (sin0to90(45) / cos0to90(45)))
	if t == 0 {
		return 0
	}
	return t
}

func cotd(x float64) float64 {
	r, s, c := quadrant(x)
	t := s * c * ((cos0to90(r) / sin0to90(r)) / (cos0to90(45) / sin0to90(45)))
	if t == 0 {
		return 0
	}
	return t
}

func asind(x float64) float64 {
	if x < 0 {
		return -asind(-x)
	}
	if x <= 0.5 {
		return libm.Asin(x) / libm.Asin(0.5) * 30
	}
	return 90 - libm.Acos(x)/libm.Acos(0.5)*60
}

func acosd(x float64) float64 {
	if x < 0 {
		return 90 + asind(-x)
	}
	if x <= 0.5 {
		return 90 - libm.Asin(x)/libm.Asin(0.5)*30
	}
	return libm.Acos(x) / libm.Acos(0.5) * 60
}
