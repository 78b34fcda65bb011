package types

import (
	"math/big"
	"sync"
)

// The series behind ln and exp, summed in fixed point: whole numbers of 2^-bits. That takes a
// third of big.Float's time at the thirty or so digits that numeric's results ask for.

// toFixed is x in units of 2^-bits, cut off.
func toFixed(x *big.Float, bits uint) *big.Int {
	scaled := new(big.Float).SetMantExp(x, int(bits))
	z, _ := scaled.Int(nil)
	return z
}

// look calls stop, which panics when nobody waits for the result any more, at every 16th term, or at
// each where terms are long: one of many thousand digits takes as long as a few hundred short ones.
func look(stop func(), term int64, bits uint) {
	if stop != nil && (term&15 == 0 || bits > 1<<13) {
		stop()
	}
}

// expFixed is e^r for small r.
func expFixed(r *big.Int, bits uint, stop func()) *big.Int {
	sum := new(big.Int).Lsh(big.NewInt(1), bits)
	term, n, rest := new(big.Int).Set(sum), new(big.Int), new(big.Int)
	product := new(big.Int)
	for i := int64(1); term.Sign() != 0; i++ {
		look(stop, i, bits)
		// Toward zero, for a shift of a negative number never gets past -1.
		product.Mul(term, r)
		neg := product.Sign() < 0
		product.Rsh(product.Abs(product), bits)
		term.QuoRem(product, n.SetInt64(i), rest)
		if neg {
			term.Neg(term)
		}
		sum.Add(sum, term)
	}
	return sum
}

// atanhFixed is z + z³/3 + z⁵/5 + … for small z.
func atanhFixed(z *big.Int, bits uint, stop func()) *big.Int {
	abs := new(big.Int).Abs(z)
	square := new(big.Int).Mul(abs, abs)
	square.Rsh(square, bits)
	sum, pow := new(big.Int).Set(abs), new(big.Int).Set(abs)
	term, k, rest, product := new(big.Int), new(big.Int), new(big.Int), new(big.Int)
	for n := int64(3); pow.Sign() != 0; n += 2 {
		look(stop, n/2, bits)
		product.Mul(pow, square)
		pow.Rsh(product, bits)
		term.QuoRem(pow, k.SetInt64(n), rest)
		sum.Add(sum, term)
	}
	if z.Sign() < 0 {
		sum.Neg(sum)
	}
	return sum
}

// Numbers of at most tableBits are brought near 1 by a table of the logarithms of n/lnSteps.
const (
	lnSteps   = 128
	tableBits = 1024
)

// lnTable holds ln(n/lnSteps), each with the most bits that were asked for so far.
var lnTable struct {
	sync.Mutex
	value [2 * lnSteps]*big.Float
}

func lnStep(n int, prec uint, stop func()) *big.Float {
	lnTable.Lock()
	defer lnTable.Unlock()
	if v := lnTable.value[n]; v != nil && v.Prec() >= prec {
		return v
	}
	m := new(big.Float).SetPrec(prec + 128).SetInt64(int64(n))
	lnTable.value[n] = lnRoots(m.SetMantExp(m, -7), stop)
	return lnTable.value[n]
}

// lnNearOne is ln m for m within [0.7, 1.42], with bits to spare below m's last.
func lnNearOne(m *big.Float, stop func()) *big.Float {
	prec := m.Prec()
	if prec > tableBits {
		return lnRoots(m, stop)
	}
	f, _ := m.Float64()
	n := int64(f*lnSteps + 0.5)
	// ln m = ln c + 2 atanh((m - c) / (m + c)) for the step c.
	c := new(big.Float).SetPrec(prec).SetInt64(n)
	c.SetMantExp(c, -7)
	num := new(big.Float).SetPrec(prec).Sub(m, c)
	den := new(big.Float).SetPrec(prec+2).Add(m, c)
	bits := prec + 64
	num.SetPrec(bits).Quo(num, den)
	r := new(big.Float).SetPrec(bits).SetInt(atanhFixed(toFixed(num, bits), bits, stop))
	if r.Sign() != 0 {
		r.SetMantExp(r, 1-int(bits))
	}
	r.SetPrec(prec)
	if n != lnSteps {
		r.Add(r, lnStep(int(n), prec, stop))
	}
	return r
}
