package parquet

import (
	"context"
	"os"
	"testing"

	"github.com/lhsql/lhsql/types"
)

type osFile struct {
	f    *os.File
	size int64
}

func openOS(tb testing.TB, path string) *osFile {
	f, err := os.Open(path)
	if err != nil {
		tb.Skip(err)
	}
	tb.Cleanup(func() { f.Close() })
	st, _ := f.Stat()
	return &osFile{f, st.Size()}
}

func (o *osFile) Size() int64 { return o.size }
func (o *osFile) ReadAt(_ context.Context, p []byte, off int64) error {
	_, err := o.f.ReadAt(p, off)
	return err
}

// lineitem is where the benchmarks find TPC-H's lineitem at scale 1.
func lineitem() string {
	return os.Getenv("LHSQL_LINEITEM")
}

// BenchmarkReadColumn reads one column of lineitem on one core.
func BenchmarkReadColumn(b *testing.B) {
	f := openOS(b, lineitem())
	ctx := context.Background()
	ft, err := ReadFooter(ctx, f, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range ft.Leaves {
		b.Run(n.Name, func(b *testing.B) {
			b.ReportAllocs()
			r := NewReader(nil, nil)
			defer r.Close()
			c, err := NewColumn(r, &Spec{Kind: Value, Node: n, Type: naturalType(n)})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for g := range ft.Groups {
					if err := c.Open(f, &ft.Groups[g], nil); err != nil {
						b.Fatal(err)
					}
					for left := int(ft.Groups[g].Rows); left > 0; left -= 2048 {
						if err := c.Read(ctx, min(left, 2048)); err != nil {
							b.Fatal(err)
						}
						if _, err := c.Vector(false); err != nil {
							b.Fatal(err)
						}
					}
				}
			}
			b.ReportMetric(float64(ft.Rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

// naturalType is the SQL type that a file's leaf looks like.
func naturalType(n *Node) types.Type {
	switch n.Logic {
	case DecimalLogic:
		return types.DecimalType(n.Precision, n.Scale)
	case DateLogic:
		return types.T(types.Date)
	case TimeLogic:
		return types.T(types.Time)
	case TimestampLogic:
		if n.Unit == Nanos {
			return types.T(types.TimestampNS)
		}
		return types.T(types.Timestamp)
	case StringLogic, EnumLogic:
		return types.T(types.Text)
	case JSONLogic:
		return types.T(types.JSON)
	case UUIDLogic:
		return types.T(types.UUID)
	case Float16Logic:
		return types.T(types.Float4)
	}
	switch n.Phys {
	case Boolean:
		return types.T(types.Bool)
	case Int32:
		if n.Unsigned && n.Bits == 32 {
			return types.T(types.Int8)
		}
		return types.T(types.Int4)
	case Int64:
		return types.T(types.Int8)
	case Int96:
		return types.T(types.TimestampNS)
	case Float:
		return types.T(types.Float4)
	case Double:
		return types.T(types.Float8)
	}
	return types.T(types.Bytea)
}
