package exec

import (
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// A batch of wide rows is cut when it takes about wideBatch bytes.
const wideBatch = 4 << 20

// varying are the places of columns whose values may be long.
type varying []int

func varyingOf(t []types.Type) (v varying) {
	for i := range t {
		switch t[i].Form() {
		case types.FormStr, types.FormList, types.FormStruct:
			v = append(v, i)
		}
	}
	return v
}

// bytes is what the varying columns' values take.
func (v varying) bytes(apps []*vec.Appender) (n int64) {
	for _, i := range v {
		n += valueBytes(apps[i].Vector())
	}
	return n
}

// valueBytes is what v's values take, however much memory v has for more.
func valueBytes(v *vec.Vector) int64 {
	n := int64(len(v.Bools)) + int64(len(v.I64)+len(v.F64)+len(v.Views))*8 + int64(len(v.W128))*16 +
		int64(len(v.Data)) + int64(len(v.Offsets))*4
	if v.Child != nil {
		n += valueBytes(v.Child)
	}
	for _, c := range v.Children {
		n += valueBytes(c)
	}
	return n
}

// wideRows is how many of n rows go into a batch, where rows take so many bytes on average.
func wideRows(n int, bytes int64, rows int) int {
	if rows == 0 || bytes < wideBatch {
		return n
	}
	return int(max(1, min(int64(n), wideBatch/max(1, bytes/int64(rows)))))
}
