package types

import (
	"math/big"
	"math/rand"
	"testing"
)

// apart tells how many bits a and b have in common.
func apart(a, b *big.Float) int {
	d := new(big.Float).SetPrec(a.Prec()+b.Prec()).Sub(a, b)
	if d.Sign() == 0 {
		return 1 << 30
	}
	return b.MantExp(nil) - d.MantExp(nil)
}

// The table and the series in fixed point give what roots give with more bits, also where the
// logarithm nearly vanishes, and e^ln m is m.
func TestSeriesAgreeWithRoots(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewSource(seed))
	for i := range 3000 {
		prec := uint(100 + r.Intn(900))
		m := new(big.Float).SetPrec(prec).SetFloat64(0.7072 + 0.7*r.Float64())
		if i%3 == 0 { // close to 1
			m.SetMantExp(new(big.Float).SetPrec(prec).SetInt64(r.Int63n(2000)-1000), -40)
			if m.Add(m, big.NewFloat(1)); m.Cmp(big.NewFloat(1)) == 0 {
				continue
			}
		}
		exact := lnRoots(new(big.Float).SetPrec(2*prec+200).Set(m), nil)
		ln := lnNearOne(m, nil)
		if n := apart(ln, exact); n < int(prec)-8 {
			t.Fatalf("seed %d: ln %v with %d bits is right to %d", seed, m, prec, n)
		}
		if n := apart(expFloat(exact, prec, nil), m); n < int(prec)-2 {
			t.Fatalf("seed %d: e^ln %v with %d bits is right to %d", seed, m, prec, n)
		}
	}
}
