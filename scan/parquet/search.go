package parquet

import (
	"bytes"
	"context"
	"slices"

	"github.com/lhsql/lhsql/types"
)

// Search says what is looked for in a file: for proofs that a value is nowhere in it, or for how
// often it is. Rows, deletes and schemas are of no matter: every value of every page is looked at.
type Search struct {
	// Want gives the type that a leaf's values are compared as, and the values, in the form that
	// vectors of the type have; no values: the leaf's are not compared. path is the leaf's, by names,
	// from the file's root.
	Want func(root, n *Node, path []string) (types.Type, []types.Datum)
	// Needles are looked for in the plain bytes of every page of every column, dictionaries among
	// them, and in every value of columns whose encoding cuts values to pieces.
	Needles [][]byte
	// Stats lets statistics prove that a row group has none of the values.
	Stats bool
}

// Found is what a Search found.
type Found struct {
	Rows   int64            // of the file
	Values int64            // equal to a wanted one
	Pages  map[string]int64 // by column: pages that hold a needle
}

// SearchFile looks through a file.
func SearchFile(ctx context.Context, f ReaderAt, ft *Footer, mem Memory, s Search) (Found, error) {
	out := Found{Rows: ft.Rows, Pages: map[string]int64{}}
	r := NewReader(mem, nil)
	defer r.Close()
	err := eachLeaf(ft.Root, nil, func(n *Node, path []string) error {
		w := leafSearch{s: &s, r: r, node: n, out: &out, name: joined(path)}
		if s.Want != nil {
			w.typ, w.want = s.Want(ft.Root, n, path)
		}
		return w.run(ctx, f, ft)
	})
	return out, err
}

func eachLeaf(n *Node, path []string, visit func(*Node, []string) error) error {
	for _, c := range n.Children {
		p := append(slices.Clip(path), c.Name)
		var err error
		if c.IsLeaf() {
			err = visit(c, p)
		} else {
			err = eachLeaf(c, p, visit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func joined(path []string) string {
	var b []byte
	for i, p := range path {
		if i > 0 {
			b = append(b, '.')
		}
		b = append(b, p...)
	}
	return string(b)
}

// leafSearch is the search in one column.
type leafSearch struct {
	s    *Search
	r    *Reader
	node *Node
	name string
	typ  types.Type
	want []types.Datum
	out  *Found
}

func (w *leafSearch) run(ctx context.Context, f ReaderAt, ft *Footer) error {
	if len(w.s.Needles) > 0 { // bytes will do
		bytes := Conversion{Type: types.T(types.Bytea), Form: types.FormStr, lane: laneOf(w.node.Phys), w: w.node.width()}
		if err := w.each(ctx, f, ft, bytes, w.pages); err != nil {
			return err
		}
	}
	if len(w.want) == 0 {
		return nil
	}
	conv, err := ConversionFor(w.node, w.typ)
	if err != nil {
		return err
	}
	return w.each(ctx, f, ft, conv, w.values)
}

// each calls use with every chunk of the column that may be of interest.
func (w *leafSearch) each(ctx context.Context, f ReaderAt, ft *Footer, conv Conversion, use func(context.Context, *leaf) error) error {
	for i := range ft.Groups {
		g := &ft.Groups[i]
		if w.node.Leaf >= len(g.Columns) || g.Columns[w.node.Leaf].Values == 0 {
			continue
		}
		if len(w.s.Needles) == 0 && w.s.Stats && w.excluded(&conv, &g.Columns[w.node.Leaf]) {
			continue
		}
		l := &leaf{r: w.r.forColumn(), node: w.node, conv: conv}
		err := l.open(f, g, nil)
		if err == nil {
			err = use(ctx, l)
		}
		l.release()
		w.r.Reclaim()
		if err != nil {
			return err
		}
	}
	return nil
}

// excluded tells whether a chunk's bounds leave out all wanted values.
func (w *leafSearch) excluded(conv *Conversion, c *Chunk) bool {
	lo, hi, ok := conv.Bounds(w.node, c)
	if !ok {
		return false
	}
	for _, v := range w.want {
		if types.Compare(v, lo, w.typ) >= 0 && types.Compare(v, hi, w.typ) <= 0 {
			return false
		}
	}
	return true
}

// values compares the values of a chunk.
func (w *leafSearch) values(ctx context.Context, l *leaf) error {
	values := sink{form: l.conv.Form}
	for !l.atEnd() {
		if err := l.load(ctx); err != nil {
			return err
		}
		n, err := w.present(l, l.left)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		values.data = values.data[:0]
		if err := values.grow(l.r.budget, n, 0); err != nil {
			return err
		}
		data, err := l.decode(&values, 0, n, false)
		if err != nil {
			return err
		}
		w.compare(&values, data, n)
	}
	return nil
}

// present is how many of the n entries of the current page have a value.
func (w *leafSearch) present(l *leaf, n int) (int, error) {
	if w.node.MaxDef == 0 {
		return n, nil
	}
	var h hybrid
	if err := h.reset(l.defs, levelWidth(w.node.MaxDef)); err != nil {
		return 0, err
	}
	var defs [512]uint32
	there := 0
	for n > 0 {
		k := min(n, len(defs))
		if err := h.read(defs[:k]); err != nil {
			return 0, err
		}
		for _, d := range defs[:k] {
			if int(d) == w.node.MaxDef {
				there++
			}
		}
		n -= k
	}
	return there, nil
}

func (w *leafSearch) compare(s *sink, data []byte, n int) {
	for _, v := range w.want {
		switch s.form {
		case types.FormI64:
			for _, x := range s.i64[:n] {
				w.count(x == v.Int())
			}
		case types.FormF64:
			for _, x := range s.f64[:n] {
				w.count(x == v.Float())
			}
		case types.FormBool:
			for _, x := range s.bools[:n] {
				w.count(x == v.Bool())
			}
		case types.FormW128:
			for _, x := range s.w128[:n] {
				w.count(x == v.W128())
			}
		case types.FormStr:
			want := v.Str()
			for _, x := range s.views[:n] {
				w.count(string(data[x.Off:x.Off+x.Len]) == want)
			}
		}
	}
}

func (w *leafSearch) count(equal bool) {
	if equal {
		w.out.Values++
	}
}

// pages looks for needles in the pages of a column whose values are not compared, without decoding
// them where plain bytes show values as they are.
func (w *leafSearch) pages(ctx context.Context, l *leaf) error {
	var values sink
	for !l.atEnd() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.header(ctx); err != nil {
			return err
		}
		h := l.head
		src, err := l.body(ctx)
		if err != nil {
			return err
		}
		switch h.typ {
		case pageDict:
			b, err := l.decompress(&l.dictBuf, src, int(h.uncompressed))
			if err != nil {
				return err
			}
			w.needle(b)
			continue
		case pageData, pageDataV2:
		default:
			continue
		}
		l.seen += int64(h.values)
		var b []byte
		if h.typ == pageData {
			b, err = l.splitV1(src)
		} else {
			b, err = l.splitV2(src)
		}
		if err != nil {
			return err
		}
		w.needle(b)
		// Two encodings cut values to pieces. Of the second only fixed-length values can be a needle.
		if h.enc != DeltaByteArray && !(h.enc == ByteStreamSplit && w.node.Phys == FixedLen) {
			continue
		}
		n, err := w.present(l, int(h.values))
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		if err := l.startValues(h.enc, false, b); err != nil {
			return err
		}
		values.form, values.data = types.FormStr, values.data[:0]
		if err := values.grow(l.r.budget, n, 0); err != nil {
			return err
		}
		data, err := l.decode(&values, 0, n, false)
		if err != nil {
			return err
		}
		for _, v := range values.views[:n] {
			if w.needle(data[v.Off : v.Off+v.Len]) {
				break
			}
		}
	}
	return nil
}

// needle counts a page that holds a needle.
func (w *leafSearch) needle(b []byte) bool {
	for _, n := range w.s.Needles {
		if bytes.Contains(b, n) {
			w.out.Pages[w.name]++
			return true
		}
	}
	return false
}
