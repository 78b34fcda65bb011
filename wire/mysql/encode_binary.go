package mysql

import (
	"encoding/binary"
	"math"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// appendBinary appends a binary row: 0, a bitmap of NULLs that begins at bit 2, the values.
func (f *rowFormat) appendBinary(buf []byte, b *vec.Batch, i int) []byte {
	at := len(buf) + 1
	buf = append(append(buf, 0), make([]byte, (len(f.enc)+9)/8)...)
	for j, e := range f.enc {
		v := b.Cols[j]
		if v.Null(i) {
			buf[at+(j+2)/8] |= 1 << ((j + 2) % 8)
			continue
		}
		buf = e(buf, v, i)
	}
	return buf
}

// binaryEncoder gives a type's binary form; its kind on the wire is describe's.
func binaryEncoder(t types.Type, o *types.TextOptions) encoder {
	if m := t.MySQL; m != nil {
		switch m.Name {
		case "tinyint":
			return func(dst []byte, v *vec.Vector, i int) []byte { return append(dst, byte(int64At(v, i))) }
		case "smallint", "year":
			return func(dst []byte, v *vec.Vector, i int) []byte {
				return binary.LittleEndian.AppendUint16(dst, uint16(int64At(v, i)))
			}
		case "mediumint", "int":
			return func(dst []byte, v *vec.Vector, i int) []byte {
				return binary.LittleEndian.AppendUint32(dst, uint32(int64At(v, i)))
			}
		case "bigint":
			return func(dst []byte, v *vec.Vector, i int) []byte {
				return binary.LittleEndian.AppendUint64(dst, unsignedAt(v, i, t))
			}
		}
	}
	switch t.Kind {
	case types.Bool:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			if v.Values().Bools[v.Row(i)] {
				return append(dst, 1)
			}
			return append(dst, 0)
		}
	case types.Int2:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			return binary.LittleEndian.AppendUint16(dst, uint16(int64At(v, i)))
		}
	case types.Int4, types.Oid, types.Xid:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			return binary.LittleEndian.AppendUint32(dst, uint32(int64At(v, i)))
		}
	case types.Int8:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			return binary.LittleEndian.AppendUint64(dst, uint64(int64At(v, i)))
		}
	case types.Float4:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(float64At(v, i))))
		}
	case types.Float8:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			return binary.LittleEndian.AppendUint64(dst, math.Float64bits(float64At(v, i)))
		}
	case types.Date:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			y, m, d := types.CivilFromDays(int64At(v, i))
			return append(dst, 4, byte(y), byte(y>>8), byte(m), byte(d))
		}
	case types.Timestamp, types.TimestampNS, types.TimestampTZ, types.TimestampTZNS:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			return appendBinaryInstant(dst, localMicros(int64At(v, i), t.Kind, o))
		}
	case types.Time:
		return func(dst []byte, v *vec.Vector, i int) []byte { return appendBinaryTime(dst, int64At(v, i)) }
	case types.TimeTZ:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			return appendBinaryTime(dst, int64(v.Datum(i).W128().Lo))
		}
	case types.Interval:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			return appendBinaryTime(dst, intervalMicros(types.IntervalOf(v.Datum(i).W128())))
		}
	case types.Void:
		return func(dst []byte, _ *vec.Vector, _ int) []byte { return dst }
	}
	return textField(t, o)
}

// appendBinaryInstant appends year, month, day; the time if it is not midnight; µs if not 0.
func appendBinaryInstant(dst []byte, micros int64) []byte {
	days, tod := types.SplitTimestamp(micros)
	y, m, d := types.CivilFromDays(days)
	sec, us := tod/1_000_000, tod%1_000_000
	n := byte(11)
	switch {
	case tod == 0:
		n = 4
	case us == 0:
		n = 7
	}
	dst = append(dst, n, byte(y), byte(y>>8), byte(m), byte(d))
	if n > 4 {
		dst = append(dst, byte(sec/3600), byte(sec/60%60), byte(sec%60))
	}
	if n > 7 {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(us))
	}
	return dst
}

// intervalMicros is an interval as a length of time; a month of what is none in MySQL has 30 days.
func intervalMicros(v types.IntervalValue) int64 {
	return v.Micros + (int64(v.Months)*30+int64(v.Days))*types.MicrosPerDay
}

// appendBinaryTime appends a time: its sign, days and time of day.
func appendBinaryTime(dst []byte, micros int64) []byte {
	if micros == 0 {
		return append(dst, 0)
	}
	sign := byte(0)
	if micros < 0 {
		sign, micros = 1, -micros
	}
	sec, us := micros/1_000_000, micros%1_000_000
	n := byte(8)
	if us != 0 {
		n = 12
	}
	dst = binary.LittleEndian.AppendUint32(append(dst, n, sign), uint32(sec/86400))
	dst = append(dst, byte(sec/3600%24), byte(sec/60%60), byte(sec%60))
	if us != 0 {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(us))
	}
	return dst
}
