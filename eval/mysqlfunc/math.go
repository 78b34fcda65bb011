package mysqlfunc

import (
	"hash/crc32"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/eval/libm"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

func registerMath() {
	double := func(name string, f func(float64) float64) eval.Func {
		return eval.Immutable("mysql:"+name, eval.Sig(types.Float8), eval.TFloat8, eval.Fn1(func(x float64) types.Datum { return finite(f(x)) })).NeverFails()
	}
	const f8, n, i8, i4, text = types.Float8, types.Numeric, types.Int8, types.Int4, types.Text
	u64 := types.FixedNumeric(20, 0)
	eval.Register(
		eval.Immutable("mysql:div", eval.Sig(f8, f8), eval.TFloat8, eval.Try2(divDoubles)),
		eval.Immutable("mysql:div", eval.Sig(n, n, i4), eval.TNumeric, eval.Try3(divDecimals)),
		eval.Immutable("mysql:int_div", eval.Sig(i8, i8), eval.TInt8, eval.Try2(mysqlIntDiv)),
		eval.Immutable("mysql:int_div", eval.Sig(n, n), eval.TInt8, eval.Try2(intDivDecimal)),
		eval.Immutable("mysql:mod", eval.Sig(i8, i8), eval.TInt8, eval.Fn2(modInts)).NeverFails(),
		eval.Immutable("mysql:mod", eval.Sig(n, n), eval.TNumeric, eval.Try2(modDecimals)),
		eval.Immutable("mysql:mod", eval.Sig(f8, f8), eval.TFloat8, eval.Fn2(modDoubles)).NeverFails(),
		eval.Immutable("mysql:bit_and", eval.Sig(n, n), u64, eval.Fn2(bitOp(func(a, b uint64) uint64 { return a & b }))).NeverFails(),
		eval.Immutable("mysql:bit_or", eval.Sig(n, n), u64, eval.Fn2(bitOp(func(a, b uint64) uint64 { return a | b }))).NeverFails(),
		eval.Immutable("mysql:bit_xor", eval.Sig(n, n), u64, eval.Fn2(bitOp(func(a, b uint64) uint64 { return a ^ b }))).NeverFails(),
		eval.Immutable("mysql:bit_left", eval.Sig(n, n), u64, eval.Fn2(bitOp(func(a, b uint64) uint64 { return a << min(b, 64) }))).NeverFails(),
		eval.Immutable("mysql:bit_right", eval.Sig(n, n), u64, eval.Fn2(bitOp(func(a, b uint64) uint64 { return a >> min(b, 64) }))).NeverFails(),
		eval.Immutable("mysql:bit_not", eval.Sig(n), u64, eval.Fn1(func(d types.Decimal) types.Decimal { return eval.UnsignedDecimal(^mysqlBits(d)) })).NeverFails(),
		eval.Immutable("mysql:unsigned_range", eval.Sig(n), u64, eval.Try1(unsignedRange)),
		eval.Immutable("mysql:signed_range", eval.Sig(n), eval.TInt8, eval.Try1(signedRange)),
		eval.Immutable("mysql:bit_count", eval.Sig(n), eval.TInt8, eval.Fn1(func(d types.Decimal) int64 { return int64(bits.OnesCount64(mysqlBits(d))) })).NeverFails(),
		eval.Immutable("mysql:to_bits", eval.Sig(n), eval.TInt8, eval.Fn1(func(d types.Decimal) int64 { return int64(mysqlBits(d)) })).NeverFails(),
		eval.Immutable("mysql:from_bits", eval.Sig(i8), u64, eval.Fn1(func(i int64) types.Decimal { return eval.UnsignedDecimal(uint64(i)) })).NeverFails(),
		eval.Immutable("mysql:round_to", eval.Sig(n, i8), eval.TNumeric, eval.Fn2(func(d types.Decimal, p int64) types.Decimal { return roundDecimal(d, p, false) })).NeverFails(),
		eval.Immutable("mysql:round_to", eval.Sig(f8, i8), eval.TFloat8, eval.Fn2(func(f float64, p int64) float64 { return roundDouble(f, p, false) })).NeverFails(),
		eval.Immutable("mysql:truncate", eval.Sig(n, i8), eval.TNumeric, eval.Fn2(func(d types.Decimal, p int64) types.Decimal { return roundDecimal(d, p, true) })).NeverFails(),
		eval.Immutable("mysql:truncate", eval.Sig(f8, i8), eval.TFloat8, eval.Fn2(func(f float64, p int64) float64 { return roundDouble(f, p, true) })).NeverFails(),
		eval.Immutable("mysql:abs", eval.Sig(i8), eval.TInt8, eval.Try1(func(i int64) (int64, error) {
			if i == math.MinInt64 {
				return 0, errUnsigned("BIGINT")
			}
			return max(i, -i), nil
		})),
		eval.Immutable("mysql:abs", eval.Sig(n), eval.TNumeric, eval.Fn1(types.Decimal.Abs)).NeverFails(),
		eval.Immutable("mysql:abs", eval.Sig(f8), eval.TFloat8, eval.Fn1(math.Abs)).NeverFails(),
		eval.Immutable("mysql:ceiling", eval.Sig(i8), eval.TInt8, eval.Fn1(func(i int64) int64 { return i })).NeverFails(),
		eval.Immutable("mysql:ceiling", eval.Sig(n), eval.TNumeric, eval.Fn1(types.Decimal.Ceil)).NeverFails(),
		eval.Immutable("mysql:ceiling", eval.Sig(f8), eval.TFloat8, eval.Fn1(math.Ceil)).NeverFails(),
		eval.Immutable("mysql:floor", eval.Sig(i8), eval.TInt8, eval.Fn1(func(i int64) int64 { return i })).NeverFails(),
		eval.Immutable("mysql:floor", eval.Sig(n), eval.TNumeric, eval.Fn1(types.Decimal.Floor)).NeverFails(),
		eval.Immutable("mysql:floor", eval.Sig(f8), eval.TFloat8, eval.Fn1(math.Floor)).NeverFails(),
		eval.Immutable("mysql:sign", eval.Sig(f8), eval.TInt4, eval.Fn1(func(f float64) int64 {
			switch {
			case f > 0:
				return 1
			case f < 0:
				return -1
			}
			return 0
		})).NeverFails(),
		double("sqrt", math.Sqrt), double("exp", libm.Exp),
		double("ln", positive(libm.Log)), double("log", positive(libm.Log)),
		double("log2", positive(func(x float64) float64 { return libm.Log(x) / math.Ln2 })), double("log10", positive(libm.Log10)),
		eval.Immutable("mysql:log", eval.Sig(f8, f8), eval.TFloat8, eval.Fn2(func(b, x float64) types.Datum {
			if b <= 0 || b == 1 || x <= 0 {
				return types.Null
			}
			return finite(libm.Log(x) / libm.Log(b))
		})).NeverFails(),
		eval.Immutable("mysql:pow", eval.Sig(f8, f8), eval.TFloat8, eval.Try2(func(x, y float64) (float64, error) {
			r := libm.Pow(x, y)
			if math.IsNaN(r) || math.IsInf(r, 0) {
				return 0, errUnsigned("DOUBLE")
			}
			return r, nil
		})),
		double("sin", libm.Sin), double("cos", libm.Cos), double("tan", libm.Tan), double("asin", libm.Asin),
		double("acos", libm.Acos), double("atan", libm.Atan),
		double("degrees", func(x float64) float64 { return x * (180 / math.Pi) }),
		double("radians", func(x float64) float64 { return x * (math.Pi / 180) }),
		eval.Immutable("mysql:cot", eval.Sig(f8), eval.TFloat8, eval.Try1(func(x float64) (float64, error) {
			r := 1 / libm.Tan(x)
			if math.IsInf(r, 0) {
				return 0, errUnsigned("DOUBLE")
			}
			return r, nil
		})),
		eval.Immutable("mysql:atan", eval.Sig(f8, f8), eval.TFloat8, eval.Fn2(libm.Atan2)).NeverFails(),
		eval.Immutable("mysql:atan2", eval.Sig(f8, f8), eval.TFloat8, eval.Fn2(libm.Atan2)).NeverFails(),
		eval.Immutable("mysql:pi", nil, eval.TFloat8, eval.Ask0(func(*eval.Ctx) (float64, error) { return math.Pi, nil })).NeverFails(),
		eval.Volatile("mysql:rand", nil, eval.TFloat8, eval.Ask0(func(*eval.Ctx) (float64, error) { return rand.Float64(), nil })),
		eval.Immutable("mysql:crc32", eval.Sig(types.Bytea), eval.TInt8, eval.Fn1(func(b []byte) int64 { return int64(crc32.ChecksumIEEE(b)) })).NeverFails(),
		eval.Immutable("mysql:conv", eval.Sig(text, i8, i8), eval.TText, eval.Fn3(conv)).NeverFails(),
		eval.Immutable("mysql:bin", eval.Sig(text), eval.TText, eval.Fn1(func(s string) types.Datum { return conv(s, 10, 2) })).NeverFails(),
		eval.Immutable("mysql:oct", eval.Sig(text), eval.TText, eval.Fn1(func(s string) types.Datum { return conv(s, 10, 8) })).NeverFails(),
		eval.Immutable("mysql:format", eval.Sig(n, i8), eval.TText, eval.Fn2(formatNumber)).NeverFails(),
		eval.Immutable("mysql:format", eval.Sig(n, i8, text), eval.TText, eval.Fn3(formatNumberIn)).NeverFails(),
	)
}

// unsignedRange and signedRange pass what fits BIGINT UNSIGNED and BIGINT.
func unsignedRange(d types.Decimal) (types.Decimal, error) {
	if _, ok := unsignedBits(d); !ok {
		return d, errUnsigned("BIGINT UNSIGNED")
	}
	return d, nil
}

func signedRange(d types.Decimal) (int64, error) {
	i, err := d.ToInt(types.Int8)
	if err != nil {
		return 0, errUnsigned("BIGINT")
	}
	return i, nil
}

func errUnsigned(kind string) error {
	return sqlerr.New(sqlerr.NumericOutOfRange, "%s value is out of range", kind)
}

func finite(f float64) types.Datum {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return types.Null
	}
	return types.NewFloat(f)
}

func positive(f func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		if x <= 0 {
			return math.NaN()
		}
		return f(x)
	}
}

func divDoubles(a, b float64) (types.Datum, error) {
	if b == 0 {
		return types.Null, nil
	}
	r := a / b
	if math.IsInf(r, 0) {
		return types.Null, errUnsigned("DOUBLE")
	}
	return types.NewFloat(r), nil
}

// divDecimals divides as MySQL's decimals do: in words of nine digits. The quotient keeps the
// whole words; what it shows is rounded where it leaves the expression.
func divDecimals(a, b types.Decimal, more int) (types.Datum, error) {
	if b.IsZero() {
		return types.Null, nil
	}
	words := func(digits int) int { return (digits + 8) / 9 }
	fa, fb := words(a.Scale())*9, words(b.Scale())*9
	more = max(more-(fa-a.Scale())-(fb-b.Scale()), 0)
	return quotient(a, b, min(words(fa+fb+more)*9, 72)).Datum(eval.TNumeric)
}

// quotient is a / b cut off after s digits.
func quotient(a, b types.Decimal, s int) types.Decimal {
	num, den := a.Coef(), b.Coef()
	num = new(big.Int).Set(num)
	den = new(big.Int).Set(den)
	if e := s + b.Scale() - a.Scale(); e >= 0 {
		num.Mul(num, tenTo(e))
	} else {
		den.Mul(den, tenTo(-e))
	}
	return types.DecimalFromBig(num.Quo(num, den), s)
}

func tenTo(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func mysqlIntDiv(a, b int64) (types.Datum, error) {
	if b == 0 {
		return types.Null, nil
	}
	if a == math.MinInt64 && b == -1 {
		return types.Null, errUnsigned("BIGINT")
	}
	return types.NewInt(a / b), nil
}

func intDivDecimal(a, b types.Decimal) (types.Datum, error) {
	if b.IsZero() {
		return types.Null, nil
	}
	i, err := quotient(a, b, 0).ToInt(types.Int8)
	if err != nil {
		return types.Null, errUnsigned("BIGINT")
	}
	return types.NewInt(i), nil
}

func modInts(a, b int64) types.Datum {
	switch b {
	case 0:
		return types.Null
	case -1:
		return types.NewInt(0)
	}
	return types.NewInt(a % b)
}

func modDecimals(a, b types.Decimal) (types.Datum, error) {
	if b.IsZero() {
		return types.Null, nil
	}
	d, err := a.Mod(b)
	if err != nil {
		return types.Null, err
	}
	return d.WithScale(max(a.Scale(), b.Scale())).Datum(eval.TNumeric)
}

func modDoubles(a, b float64) types.Datum {
	if b == 0 {
		return types.Null
	}
	return finite(math.Mod(a, b))
}

func mysqlBits(d types.Decimal) uint64 {
	r := d.Round(0)
	if u, ok := unsignedBits(r); ok {
		return u
	}
	return uint64(castSigned(r))
}

func bitOp(f func(a, b uint64) uint64) func(a, b types.Decimal) types.Decimal {
	return func(a, b types.Decimal) types.Decimal { return eval.UnsignedDecimal(f(mysqlBits(a), mysqlBits(b))) }
}

// roundDecimal rounds half away from zero, or cuts; zeros fill what digits are missing.
func roundDecimal(d types.Decimal, p int64, cut bool) types.Decimal {
	n := int(min(max(p, -400), 30))
	if n >= d.Scale() {
		return d.WithScale(n)
	}
	if cut {
		return d.Trunc(n)
	}
	return d.Round(n)
}

func roundDouble(f float64, p int64, cut bool) float64 {
	if p > 330 || math.IsInf(f, 0) || math.IsNaN(f) {
		return f
	}
	if p < -330 {
		return 0
	}
	scale := math.Pow(10, math.Abs(float64(p)))
	round := math.RoundToEven
	if cut {
		round = math.Trunc
	}
	if p < 0 {
		if math.IsInf(scale, 0) {
			return 0
		}
		return round(f/scale) * scale
	}
	x := f * scale
	if math.IsInf(x, 0) || math.IsInf(scale, 0) {
		return f
	}
	return round(x) / scale
}

// conv changes the base of a number; a negative base to means a signed result.
func conv(s string, from, to int64) types.Datum {
	abs := func(i int64) int64 { return max(i, -i) }
	if abs(from) < 2 || abs(from) > 36 || abs(to) < 2 || abs(to) > 36 {
		return types.Null
	}
	if s == "" {
		return types.Null
	}
	s = strings.TrimSpace(s)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimLeft(s, "+-")
	var u uint64
	over := false
	for i := 0; i < len(s); i++ {
		v, err := strconv.ParseUint(s[i:i+1], 36, 8)
		if err != nil || int64(v) >= abs(from) {
			break
		}
		hi, lo := bits.Mul64(u, uint64(abs(from)))
		sum, carry := bits.Add64(lo, v, 0)
		if hi != 0 || carry != 0 {
			over = true
		}
		u = sum
	}
	if over {
		u = math.MaxUint64
		if neg {
			u = 1 << 63
			neg = false
		}
	}
	if neg {
		u = -u
	}
	if to < 0 {
		return types.NewStr(strings.ToUpper(strconv.FormatInt(int64(u), int(-to))))
	}
	return types.NewStr(strings.ToUpper(strconv.FormatUint(u, int(to))))
}

// formatNumber is FORMAT(x, d): thousands in groups.
func formatNumber(d types.Decimal, p int64) string { return groupDigits(d, p, numberForms["en_us"]) }

// numberForm is how a locale writes numbers.
type numberForm struct {
	group, point string
	indian       bool // of three digits, then of two each
}

// numberForms are MySQL's locales that write numbers otherwise than the others, which is en_US's way.
var numberForms = func() map[string]numberForm {
	m := map[string]numberForm{"en_us": {group: ",", point: "."}}
	for _, l := range []struct {
		form  numberForm
		names string
	}{
		{numberForm{group: "", point: "."}, "ar_sa sr_rs"},
		{numberForm{group: ".", point: ","}, `be_by da_dk de_be de_de de_lu es_ar es_bo es_cl es_co es_ec es_es es_py es_uy es_ve fo_fo hu_hu
			id_id is_is lt_lt mn_mn nb_no no_no ro_ro ru_ua sq_al tr_tr uk_ua vi_vn`},
		{numberForm{group: "", point: ","}, "bg_bg ca_es de_at el_gr eu_es fr_be fr_ca fr_ch fr_fr fr_lu gl_es hr_hr it_it nl_be nl_nl pl_pl pt_br pt_pt sl_si"},
		{numberForm{group: " ", point: ","}, "cs_cz es_cr et_ee fi_fi lv_lv mk_mk ru_ru sk_sk sv_fi sv_se"},
		{numberForm{group: "'", point: "."}, "de_ch"},
		{numberForm{group: "'", point: ","}, "it_ch rm_ch"},
		{numberForm{group: ",", point: ".", indian: true}, "en_in ta_in te_in"},
	} {
		for _, n := range strings.Fields(l.names) {
			m[n] = l.form
		}
	}
	return m
}()

func formatNumberIn(d types.Decimal, p int64, locale string) string {
	f, ok := numberForms[strings.ToLower(locale)]
	if !ok {
		return formatNumber(d, p)
	}
	return groupDigits(d, p, f)
}

func groupDigits(d types.Decimal, p int64, f numberForm) string {
	n := int(min(max(p, 0), 30))
	text := d.Round(n).WithScale(n).String()
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, frac, _ := strings.Cut(text, ".")
	var b room.Builder
	for i := 0; i < len(whole); i++ {
		if left := len(whole) - i; i > 0 && (left == 3 || left > 3 && (f.indian && left%2 == 1 || !f.indian && left%3 == 0)) {
			b.WriteString(f.group)
		}
		b.WriteByte(whole[i])
	}
	if frac != "" {
		frac = f.point + frac
	}
	return sign + b.String() + frac
}
