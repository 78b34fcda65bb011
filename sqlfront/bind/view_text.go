package bind

import (
	"sort"
	"strings"

	"github.com/lhsql/lhsql/eval/pgfunc"
	"github.com/lhsql/lhsql/plan"
)

// starUse is one * of a view's text with the columns that it stands for now.
type starUse struct {
	pos  int
	refs []string // as the text may name them; nil: they have no names of their own
}

// keepStar notes what * stands for while a view is made: the view keeps these columns whatever
// its tables gain later.
func (b *binder) keepStar(lv *level, pos int, out []target) {
	if !b.viewText || b.inView > 0 {
		return
	}
	u := starUse{pos: pos}
	for _, t := range out {
		ref := b.textRef(lv, t)
		if ref == "" {
			u.refs = nil
			break
		}
		u.refs = append(u.refs, ref)
	}
	b.stars = append(b.stars, u)
}

// textRef is how the text of this level can name a column, "" where it cannot.
func (b *binder) textRef(lv *level, t target) string {
	col, ok := t.expr.(*plan.Col)
	if !ok {
		return ""
	}
	ref, free := "", 0
	for _, it := range lv.items {
		c, n := it.column(b.d, t.name)
		if it.colSeen && !it.lateral {
			free += n
		}
		if n != 1 || c.col.ID != col.ID || !it.relSeen || it.name == "" || ref != "" {
			continue
		}
		same := 0
		for _, o := range lv.items {
			if o.relSeen && b.d.SameName(o.name, it.name) {
				same++
			}
		}
		if same == 1 {
			ref = b.quoted(it.name) + "." + b.quoted(t.name)
		}
	}
	if ref == "" && free == 1 {
		ref = b.quoted(t.name)
	}
	return ref
}

func (b *binder) quoted(name string) string {
	if b.d.Operator != nil {
		return "`" + strings.ReplaceAll(name, "`", "``") + "`"
	}
	return pgfunc.QuoteIdent(name)
}

// fixedText is the text of a view's query with every * spelled out, where that is possible. start
// is where the text begins in the statement.
func (b *binder) fixedText(sql string, start int) string {
	stars := append([]starUse(nil), b.stars...)
	sort.Slice(stars, func(i, j int) bool { return stars[i].pos > stars[j].pos })
	for i, u := range stars {
		if len(u.refs) == 0 || i > 0 && stars[i-1].pos == u.pos {
			continue
		}
		list := strings.Join(u.refs, ", ")
		if u.pos < 0 && len(stars) == 1 && len(sql) > 5 && strings.EqualFold(sql[:5], "table") {
			sql = "SELECT " + list + " FROM" + sql[5:] // TABLE t
			continue
		}
		from := u.pos - start
		if n := starLength(sql, from); n > 0 {
			sql = sql[:from] + list + sql[from+n:]
		}
	}
	return sql
}

// starLength is the length of * or a.b.* at a place in a text; 0: there is none.
func starLength(sql string, from int) int {
	if from < 0 {
		return 0
	}
	for i := from; i < len(sql); i++ {
		switch c := sql[i]; {
		case c == '*':
			return i + 1 - from
		case c == '"' || c == '`':
			end := strings.IndexByte(sql[i+1:], c)
			if end < 0 {
				return 0
			}
			i += end + 1
		case c == '.' || c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80:
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		default:
			return 0
		}
	}
	return 0
}
