package eval

import (
	"hash/crc32"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/eval/libm"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

func init() {
	double := func(name string, f func(float64) float64) Func {
		return imm("mysql:"+name, sig(types.Float8), tFloat8, Fn1(func(x float64) types.Datum { return finite(f(x)) })).total()
	}
	const f8, n, i8, i4, text = types.Float8, types.Numeric, types.Int8, types.Int4, types.Text
	u64 := types.FixedNumeric(20, 0)
	Register(
		imm("mysql:div", sig(f8, f8), tFloat8, Try2(divDoubles)),
		imm("mysql:div", sig(n, n, i4), tNumeric, Try3(divDecimals)),
		imm("mysql:int_div", sig(i8, i8), tInt8, Try2(mysqlIntDiv)),
		imm("mysql:int_div", sig(n, n), tInt8, Try2(intDivDecimal)),
		imm("mysql:mod", sig(i8, i8), tInt8, Fn2(modInts)).total(),
		imm("mysql:mod", sig(n, n), tNumeric, Try2(modDecimals)),
		imm("mysql:mod", sig(f8, f8), tFloat8, Fn2(modDoubles)).total(),
		imm("mysql:bit_and", sig(n, n), u64, Fn2(bitOp(func(a, b uint64) uint64 { return a & b }))).total(),
		imm("mysql:bit_or", sig(n, n), u64, Fn2(bitOp(func(a, b uint64) uint64 { return a | b }))).total(),
		imm("mysql:bit_xor", sig(n, n), u64, Fn2(bitOp(func(a, b uint64) uint64 { return a ^ b }))).total(),
		imm("mysql:bit_left", sig(n, n), u64, Fn2(bitOp(func(a, b uint64) uint64 { return a << min(b, 64) }))).total(),
		imm("mysql:bit_right", sig(n, n), u64, Fn2(bitOp(func(a, b uint64) uint64 { return a >> min(b, 64) }))).total(),
		imm("mysql:bit_not", sig(n), u64, Fn1(func(d types.Decimal) types.Decimal { return unsignedDecimal(^mysqlBits(d)) })).total(),
		imm("mysql:unsigned_range", sig(n), u64, Try1(unsignedRange)),
		imm("mysql:signed_range", sig(n), tInt8, Try1(signedRange)),
		imm("mysql:bit_count", sig(n), tInt8, Fn1(func(d types.Decimal) int64 { return int64(bits.OnesCount64(mysqlBits(d))) })).total(),
		imm("mysql:to_bits", sig(n), tInt8, Fn1(func(d types.Decimal) int64 { return int64(mysqlBits(d)) })).total(),
		imm("mysql:from_bits", sig(i8), u64, Fn1(func(i int64) types.Decimal { return unsignedDecimal(uint64(i)) })).total(),
		imm("mysql:round_to", sig(n, i8), tNumeric, Fn2(func(d types.Decimal, p int64) types.Decimal { return roundDecimal(d, p, false) })).total(),
		imm("mysql:round_to", sig(f8, i8), tFloat8, Fn2(func(f float64, p int64) float64 { return roundDouble(f, p, false) })).total(),
		imm("mysql:truncate", sig(n, i8), tNumeric, Fn2(func(d types.Decimal, p int64) types.Decimal { return roundDecimal(d, p, true) })).total(),
		imm("mysql:truncate", sig(f8, i8), tFloat8, Fn2(func(f float64, p int64) float64 { return roundDouble(f, p, true) })).total(),
		imm("mysql:abs", sig(i8), tInt8, Try1(func(i int64) (int64, error) {
			if i == math.MinInt64 {
				return 0, errUnsigned("BIGINT")
			}
			return max(i, -i), nil
		})),
		imm("mysql:abs", sig(n), tNumeric, Fn1(types.Decimal.Abs)).total(),
		imm("mysql:abs", sig(f8), tFloat8, Fn1(math.Abs)).total(),
		imm("mysql:ceiling", sig(i8), tInt8, Fn1(func(i int64) int64 { return i })).total(),
		imm("mysql:ceiling", sig(n), tNumeric, Fn1(types.Decimal.Ceil)).total(),
		imm("mysql:ceiling", sig(f8), tFloat8, Fn1(math.Ceil)).total(),
		imm("mysql:floor", sig(i8), tInt8, Fn1(func(i int64) int64 { return i })).total(),
		imm("mysql:floor", sig(n), tNumeric, Fn1(types.Decimal.Floor)).total(),
		imm("mysql:floor", sig(f8), tFloat8, Fn1(math.Floor)).total(),
		imm("mysql:sign", sig(f8), tInt4, Fn1(func(f float64) int64 {
			switch {
			case f > 0:
				return 1
			case f < 0:
				return -1
			}
			return 0
		})).total(),
		double("sqrt", math.Sqrt), double("exp", libm.Exp),
		double("ln", positive(libm.Log)), double("log", positive(libm.Log)),
		double("log2", positive(func(x float64) float64 { return libm.Log(x) / math.Ln2 })), double("log10", positive(libm.Log10)),
		imm("mysql:log", sig(f8, f8), tFloat8, Fn2(func(b, x float64) types.Datum {
			if b <= 0 || b == 1 || x <= 0 {
				return types.Null
			}
			return finite(libm.Log(x) / libm.Log(b))
		})).total(),
		imm("mysql:pow", sig(f8, f8), tFloat8, Try2(func(x, y float64) (float64, error) {
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
		imm("mysql:cot", sig(f8), tFloat8, Try1(func(x float64) (float64, error) {
			r := 1 / libm.Tan(x)
			if math.IsInf(r, 0) {
				return 0, errUnsigned("DOUBLE")
			}
			return r, nil
		})),
		imm("mysql:atan", sig(f8, f8), tFloat8, Fn2(libm.Atan2)).total(),
		imm("mysql:atan2", sig(f8, f8), tFloat8, Fn2(libm.Atan2)).total(),
		imm("mysql:pi", nil, tFloat8, Ask0(func(*Ctx) (float64, error) { return math.Pi, nil })).total(),
		vol("mysql:rand", nil, tFloat8, Ask0(func(*Ctx) (float64, error) { return rand.Float64(), nil })),
		imm("mysql:crc32", sig(types.Bytea), tInt8, Fn1(func(b []byte) int64 { return int64(crc32.ChecksumIEEE(b)) })).total(),
		imm("mysql:conv", sig(text, i8, i8), tText, Fn3(conv)).total(),
		imm("mysql:bin", sig(text), tText, Fn1(func(s string) types.Datum { return conv(s, 10, 2) })).total(),
		imm("mysql:oct", sig(text), tText, Fn1(func(s string) types.Datum { return conv(s, 10, 8) })).total(),
		imm("mysql:format", sig(n, i8), tText, Fn2(formatNumber)).total(),
		imm("mysql:format", sig(n, i8, text), tText, Fn3(formatNumberIn)).total(),
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
	return quotient(a, b, min(words(fa+fb+more)*9, 72)).Datum(tNumeric)
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
	return d.WithScale(max(a.Scale(), b.Scale())).Datum(tNumeric)
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
	return func(a, b types.Decimal) types.Decimal { return unsignedDecimal(f(mysqlBits(a), mysqlBits(b))) }
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
