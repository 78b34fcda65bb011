package pgfunc

import (
	"math"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

func registerSeries() {
	const i4, i8, num, ts, tz, iv = types.Int4, types.Int8, types.Numeric, types.Timestamp, types.TimestampTZ, types.Interval
	plain := func(_ *eval.Ctx, v int64, step types.IntervalValue) (int64, error) { return types.AddInterval(v, step) }
	zoned := func(c *eval.Ctx, v int64, step types.IntervalValue) (int64, error) {
		return types.AddIntervalTZ(v, step, eval.ZoneOf(c))
	}
	eval.Register(
		eval.Immutable("generate_series", eval.Sig(i4, i4), eval.TInt4, eval.SetKernel(intSeries(math.MaxInt32))),
		eval.Immutable("generate_series", eval.Sig(i4, i4, i4), eval.TInt4, eval.SetKernel(intSeries(math.MaxInt32))),
		eval.Immutable("generate_series", eval.Sig(i8, i8), eval.TInt8, eval.SetKernel(intSeries(math.MaxInt64))),
		eval.Immutable("generate_series", eval.Sig(i8, i8, i8), eval.TInt8, eval.SetKernel(intSeries(math.MaxInt64))),
		eval.Immutable("generate_series", eval.Sig(num, num), eval.TNumeric, eval.SetKernel(numericSeries)),
		eval.Immutable("generate_series", eval.Sig(num, num, num), eval.TNumeric, eval.SetKernel(numericSeries)),
		eval.Immutable("generate_series", eval.Sig(ts, ts, iv), eval.TTimestamp, timeSeries(plain)),
		eval.Stable("generate_series", eval.Sig(tz, tz, iv), eval.TTimestampTZ, timeSeries(zoned)),
	)
}

func errZeroStep() error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "step size cannot equal zero")
}

func intSeries(limit int64) func(*eval.Ctx, []types.Datum, func(types.Datum) error) error {
	return func(_ *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
		v, end, step := a[0].Int(), a[1].Int(), int64(1)
		if len(a) > 2 {
			step = a[2].Int()
		}
		if step == 0 {
			return errZeroStep()
		}
		for step > 0 && v <= end || step < 0 && v >= end {
			if err := yield(types.NewInt(v)); err != nil {
				return err
			}
			// Stop at the type's end instead of going round it.
			if step > 0 && v > limit-step || step < 0 && v < -limit-1-step {
				return nil
			}
			v += step
		}
		return nil
	}
}

func numericSeries(_ *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
	v, end, step := types.DecimalOf(a[0], eval.TNumeric), types.DecimalOf(a[1], eval.TNumeric), types.DecimalFromInt64(1)
	if len(a) > 2 {
		step = types.DecimalOf(a[2], eval.TNumeric)
	}
	for _, b := range []struct {
		d    types.Decimal
		what string
	}{{v, "start"}, {end, "stop"}, {step, "step size"}} {
		bad := "NaN"
		if b.d.IsInf() {
			bad = "infinity"
		} else if !b.d.IsNaN() {
			continue
		}
		if b.what == "step size" {
			return sqlerr.New(sqlerr.InvalidParameterValue, "step size cannot be %s", bad)
		}
		return sqlerr.New(sqlerr.InvalidParameterValue, "%s value cannot be %s", b.what, bad)
	}
	if step.IsZero() {
		return errZeroStep()
	}
	for step.Sign() > 0 && v.Cmp(end) <= 0 || step.Sign() < 0 && v.Cmp(end) >= 0 {
		d, err := v.Datum(eval.TNumeric)
		if err != nil {
			return err
		}
		if err := yield(d); err != nil {
			return err
		}
		v = v.Add(step)
	}
	return nil
}

func timeSeries(add func(*eval.Ctx, int64, types.IntervalValue) (int64, error)) eval.SetKernel {
	return func(c *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
		v, end, step := a[0].Int(), a[1].Int(), types.IntervalOf(a[2].W128())
		sign := step.Cmp(types.IntervalValue{})
		if sign == 0 {
			return errZeroStep()
		}
		for sign > 0 && v <= end || sign < 0 && v >= end {
			if err := yield(types.NewInt(v)); err != nil {
				return err
			}
			if !isFinite(v) {
				return nil
			}
			var err error
			if v, err = add(c, v, step); err != nil {
				return err
			}
		}
		return nil
	}
}
