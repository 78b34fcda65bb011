package mysqlfunc

import (
	"bytes"
	"sync"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/eval/aggregate"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// Functions of the MySQL dialect are called mysql:…, a name that no PostgreSQL query spells; the
// list of functions leaves them out.
//
// A collation that is not binary compares keys: a = b is key(a) = key(b), GROUP BY s groups by
// key(s), and so on; sqlfront/bind puts the keys in. The key functions read one text and nothing
// else, so a dictionary's entries are weighed once each, and nothing prunes by a key, as file
// statistics are of the texts.
//
//	mysql:key_ai_ci   'a' = 'A' = 'á'      utf8mb4_0900_ai_ci and the other _ci
//	mysql:key_as_ci   'a' = 'A' <> 'á'
//	…_pad             without the spaces at the end: collations older than 9.0
func registerCollation() {
	ai := newCollation(collate.IgnoreCase, collate.IgnoreDiacritics)
	as := newCollation(collate.IgnoreCase)
	eval.Register(
		eval.Immutable("mysql:key_ai_ci", eval.Sig(types.Text), eval.TBytea, ai.kernel(false)).NeverFails(),
		eval.Immutable("mysql:key_as_ci", eval.Sig(types.Text), eval.TBytea, as.kernel(false)).NeverFails(),
		eval.Immutable("mysql:key_ai_ci_pad", eval.Sig(types.Text), eval.TBytea, ai.kernel(true)).NeverFails(),
		eval.Immutable("mysql:key_as_ci_pad", eval.Sig(types.Text), eval.TBytea, as.kernel(true)).NeverFails(),
		eval.Immutable("mysql:key_bin_pad", eval.Sig(types.Text), eval.TBytea, eval.Fn1(func(s []byte) []byte { return bytes.TrimRight(s, " ") })).NeverFails(),
		eval.Immutable("mysql:collate", eval.Sig(types.Text, types.Text), eval.TText, eval.Fn2(func(s, _ []byte) []byte { return s })).NeverFails(),
		eval.Immutable("mysql:min", eval.Sig(types.Bytea), eval.TBytea, &eval.AggImpl{IgnoresDuplicates: true,
			New: func(_ *eval.Ctx, call eval.AggCall) (eval.AggState, error) {
				return aggregate.NewExtreme(call, -1), nil
			}}),
		eval.Immutable("mysql:max", eval.Sig(types.Bytea), eval.TBytea, &eval.AggImpl{IgnoresDuplicates: true,
			New: func(_ *eval.Ctx, call eval.AggCall) (eval.AggState, error) { return aggregate.NewExtreme(call, 1), nil }}),
		// A key with its text behind it sorts by the key and gives the text back: MIN and MAX.
		eval.Immutable("mysql:keyed", eval.Sig(types.Bytea, types.Text), eval.TBytea, eval.Fn2(keyed)).NeverFails(),
		eval.Immutable("mysql:unkeyed", eval.Sig(types.Bytea), eval.TText, eval.Try1(unkeyed)),
	)
}

// collation makes keys by the Unicode collation algorithm.
type collation struct {
	pool  sync.Pool // of *keyer: a collator serves one goroutine
	ascii [128]string
	// plain: an ASCII text's key is its characters' keys in a row.
	plain bool
}

type keyer struct {
	c   *collate.Collator
	buf collate.Buffer
}

func newCollation(o ...collate.Option) *collation {
	c := &collation{plain: len(o) == 2}
	c.pool.New = func() any { return &keyer{c: collate.New(language.Und, o...)} }
	k := c.pool.Get().(*keyer)
	for i := range c.ascii {
		k.buf.Reset()
		c.ascii[i] = string(k.c.Key(&k.buf, []byte{byte(i)}))
	}
	c.pool.Put(k)
	return c
}

// append appends s's key to dst.
func (c *collation) append(dst, s []byte, k *keyer) []byte {
	if c.plain && isASCII(s) {
		for _, b := range s {
			dst = append(dst, c.ascii[b]...)
		}
		return dst
	}
	k.buf.Reset()
	return append(dst, k.c.Key(&k.buf, s)...)
}

func isASCII(s []byte) bool {
	for _, b := range s {
		if b >= 0x80 {
			return false
		}
	}
	return true
}

func (c *collation) kernel(pad bool) eval.Kernel {
	return func(_ *eval.Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		k := c.pool.Get().(*keyer)
		defer c.pool.Put(k)
		eval.OutStr(out, n)
		var buf []byte
		return eval.EachRow(sel, n, func(i int) error {
			s := args[0].Bytes(i)
			if pad {
				s = bytes.TrimRight(s, " ")
			}
			buf = c.append(buf[:0], s, k)
			eval.PutBytes(out, i, buf)
			return nil
		})
	}
}

// keyed joins a key and its text. In the key a zero byte becomes 00 FF, so that 00 00, which
// ends it, sorts before whatever a longer key goes on with.
func keyed(key, s []byte) []byte {
	out := make([]byte, 0, len(key)+len(s)+4)
	for _, b := range key {
		if out = append(out, b); b == 0 {
			out = append(out, 0xff)
		}
	}
	out = append(out, 0, 0)
	return append(out, s...)
}

func unkeyed(b []byte) ([]byte, error) {
	for i := 0; i+1 < len(b); i++ {
		if b[i] != 0 {
			continue
		}
		if b[i+1] == 0 {
			return b[i+2:], nil
		}
		i++
	}
	return nil, sqlerr.New(sqlerr.DataException, "a sort key without its text")
}
