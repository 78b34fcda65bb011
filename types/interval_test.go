package types

import (
	"strconv"
	"testing"
)

func TestIntervalArithmetic(t *testing.T) {
	ny, _, err := LoadZone("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	o := &TextOptions{Zone: ny}
	for _, row := range readLines(t, "interval.tsv") {
		op, a, b, want := row[0], row[1], row[2], row[3]
		interval := func(s string) IntervalValue {
			v, err := ParseInterval(s, nil)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		timestamp := func(s string, parse func(string, *TextOptions) (int64, error)) int64 {
			v, err := parse(s, o)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		var v IntervalValue
		var err error
		got := ""
		switch op {
		case "mul", "div":
			f, e := strconv.ParseFloat(b, 64)
			if e != nil {
				t.Fatal(e)
			}
			if op == "mul" {
				v, err = interval(a).Mul(f)
			} else {
				v, err = interval(a).Div(f)
			}
		case "add":
			v, err = interval(a).Add(interval(b))
		case "sub":
			v, err = interval(a).Sub(interval(b))
		case "cmp":
			got = strconv.Itoa(interval(a).Cmp(interval(b)))
		case "age":
			v, err = Age(timestamp(a, ParseTimestamp), timestamp(b, ParseTimestamp))
		case "diff":
			v, err = SubTimestamps(timestamp(a, ParseTimestamp), timestamp(b, ParseTimestamp))
		case "ts+":
			var ts int64
			ts, err = AddInterval(timestamp(a, ParseTimestamp), interval(b))
			got = string(AppendTimestamp(nil, ts, o))
		case "tz+":
			var ts int64
			ts, err = AddIntervalTZ(timestamp(a, ParseTimestampTZ), interval(b), ny)
			got = string(AppendTimestampTZ(nil, ts, o))
		case "justify_hours":
			v, err = interval(a).JustifyHours()
		case "justify_days":
			v, err = interval(a).JustifyDays()
		case "justify_interval":
			v, err = interval(a).JustifyInterval()
		}
		if got == "" {
			got = string(AppendInterval(nil, v, o))
		}
		if got = outcome(got, err); got != want {
			t.Errorf("%s(%s, %s)\n got %s\nwant %s", op, a, b, got, want)
		}
	}
}
