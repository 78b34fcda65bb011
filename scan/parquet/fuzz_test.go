package parquet

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/types"
)

type bytesFile []byte

func (b bytesFile) Size() int64 { return int64(len(b)) }
func (b bytesFile) ReadAt(_ context.Context, p []byte, off int64) error {
	if off < 0 || off > int64(len(b)) || int64(len(p)) > int64(len(b))-off {
		return errors.New("read outside of the file")
	}
	copy(p, b[off:])
	return nil
}

// capped is a Memory of a few bytes.
type capped struct{ left int64 }

func (c *capped) Reserve(n int64) error {
	if n > c.left {
		return errors.New("out of memory")
	}
	c.left -= n
	return nil
}
func (c *capped) Release(n int64) { c.left += n }

// specOf reads a node of a file as what it looks like.
func specOf(n *Node) *Spec {
	if n.IsLeaf() {
		if n.Repetition == Repeated {
			t := naturalType(n)
			return &Spec{Kind: List, Type: types.ArrayOf(t), Node: n, Repeated: n, Children: []*Spec{{Kind: Value, Type: t, Node: n}}}
		}
		return &Spec{Kind: Value, Type: naturalType(n), Node: n}
	}
	if len(n.Children) == 1 && n.Children[0].Repetition == Repeated && !n.Children[0].IsLeaf() && len(n.Children[0].Children) > 0 {
		rep := n.Children[0]
		if len(rep.Children) == 2 {
			k, v := specOf(rep.Children[0]), specOf(rep.Children[1])
			return &Spec{Kind: Map, Type: types.MapOf(k.Type, v.Type), Node: n, Repeated: rep, Children: []*Spec{k, v}}
		}
		e := specOf(rep.Children[0])
		return &Spec{Kind: List, Type: types.ArrayOf(e.Type), Node: n, Repeated: rep, Children: []*Spec{e}}
	}
	s := &Spec{Kind: Struct, Node: n}
	var fields []types.Field
	for _, c := range n.Children {
		k := specOf(c)
		s.Children = append(s.Children, k)
		fields = append(fields, types.Field{Name: c.Name, Type: k.Type})
	}
	s.Type = types.StructOf(fields...)
	return s
}

// readEverything reads a file whole, some of it by skipping, and its indexes.
func readEverything(f ReaderAt, mem Memory, skip int) error {
	ctx := context.Background()
	ft, err := ReadFooter(ctx, f, mem)
	if err != nil {
		return err
	}
	r := NewReader(mem, nil)
	defer r.Close()
	var first error
	keep := func(err error) {
		if err != nil && first == nil {
			first = err
		}
	}
	b := NewBudget(mem)
	defer b.Close()
	for _, n := range ft.Root.Children {
		c, err := NewColumn(r, specOf(n))
		if err != nil {
			keep(err)
			continue
		}
		for g := range ft.Groups {
			group := &ft.Groups[g]
			var ix Indexes
			if skip > 0 {
				pages := map[int]bool{}
				for _, l := range c.Leaves() {
					pages[l] = true
				}
				var cols map[int]*ColumnIndex
				ix, cols, err = ReadIndexes(ctx, f, group, c.Leaves(), pages, b)
				keep(err)
				for l, x := range cols {
					if conv, err := ConversionFor(ft.Leaves[l], naturalType(ft.Leaves[l])); err == nil {
						for p := range x.NullPage {
							conv.PageBounds(ft.Leaves[l], x, p)
						}
						conv.Bounds(ft.Leaves[l], &group.Columns[l])
					}
				}
				for _, l := range c.Leaves() {
					_, err := ReadBloom(ctx, f, group, l, b)
					keep(err)
				}
			}
			keep(readGroup(ctx, f, r, c, group, ix, skip))
		}
	}
	return first
}

func readGroup(ctx context.Context, f ReaderAt, r *Reader, c Column, g *RowGroup, ix Indexes, skip int) error {
	if err := c.Open(f, g, ix); err != nil {
		return err
	}
	r.Reclaim()
	if err := r.Fetch(ctx, f, []Column{c}, nil); err != nil {
		return err
	}
	for left := g.Rows; left > 0; {
		if s := min(int64(skip), left-1); s > 0 {
			c.Skip(int(s))
			left -= s
		}
		n := min(left, 100)
		if err := c.Read(ctx, int(n)); err != nil {
			return err
		}
		v, err := c.Vector(left%2 == 0)
		if err != nil {
			return err
		}
		for i := 0; i < int(n); i++ {
			v.Datum(i) // every value must be where the vector says
		}
		left -= n
	}
	return nil
}

const fuzzMemory = 32 << 20

// tryFile reads hostile bytes: no panic, and no more memory than the account has.
func tryFile(t *testing.T, b []byte) {
	for _, skip := range []int{0, 150} {
		m := &capped{left: fuzzMemory}
		readEverything(bytesFile(b), m, skip)
		if m.left != fuzzMemory {
			t.Fatalf("%d bytes of the account are not given back", fuzzMemory-m.left)
		}
	}
}

func fixtures(tb testing.TB) map[string][]byte {
	files, _ := filepath.Glob("../testdata/*.parquet")
	out := map[string][]byte{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		out[filepath.Base(f)] = b
	}
	return out
}

func FuzzReadFile(f *testing.F) {
	for _, b := range fixtures(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { tryFile(t, b) })
}

// TestMutatedFiles changes a few bytes of good files: headers, levels, footers, values. What
// is read may be wrong where no checksum guards it; the reader must live and stay small.
func TestMutatedFiles(t *testing.T) {
	seed := testseed.Of(t)
	rnd := rand.New(rand.NewPCG(seed, 1))
	rounds := 60
	if testing.Short() {
		rounds = 5
	}
	for name, good := range fixtures(t) {
		if err := readEverything(bytesFile(good), &capped{left: fuzzMemory}, 0); err != nil {
			t.Errorf("%s as it is: %v", name, err)
		}
		if err := readEverything(bytesFile(good), &capped{left: fuzzMemory}, 150); err != nil {
			t.Errorf("%s as it is, with skips: %v", name, err)
		}
		for range rounds {
			b := append([]byte(nil), good...)
			for range 1 + rnd.IntN(3) {
				at := rnd.IntN(len(b))
				if rnd.IntN(2) == 0 { // the footer is a small part of the file, and the trickiest
					at = len(b) - 1 - rnd.IntN(min(len(b), 3000))
				}
				b[at] = byte(rnd.IntN(256))
			}
			func() {
				defer func() {
					if p := recover(); p != nil {
						os.WriteFile(filepath.Join(t.TempDir(), "bad.parquet"), b, 0o644)
						panic(p)
					}
				}()
				tryFile(t, b)
			}()
		}
	}
}

// TestHostileFooter is a small file that claims to be large.
func TestHostileFooter(t *testing.T) {
	for name, good := range fixtures(t) {
		for cut := 0; cut < len(good); cut += max(1, len(good)/50) {
			tryFile(t, good[:cut])
		}
		_ = name
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b := []byte("PAR1" + "\x19\xfc\xff\xff\xff\x7f\x15\x00" + "\x08\x00\x00\x00PAR1")
	if err := readEverything(bytesFile(b), &capped{left: fuzzMemory}, 0); err == nil {
		t.Error("a footer without a schema was read")
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("a file of %d bytes allocated %d", len(b), n)
	}
}
