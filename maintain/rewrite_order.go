package maintain

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/dml"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
)

// rewriteOrder is the order of rows in new files: keys over the columns 1, 2, … that are the
// schema's fields. claim is the table's sort order that it is, 0: none.
type rewriteOrder struct {
	keys  []plan.SortKey
	claim int
	text  string // for EXPLAIN
}

// row are the expressions of a whole row of the schema, as the orders read it.
func row(s *lake.Schema) ([]plan.Column, []plan.Expr) {
	cols := make([]plan.Column, len(s.Fields))
	row := make([]plan.Expr, len(s.Fields))
	for i := range s.Fields {
		f := &s.Fields[i]
		cols[i] = plan.Column{ID: plan.ColID(i + 1), Name: f.Name, Type: f.Type}
		row[i] = plan.ColOf(cols[i])
	}
	return cols, row
}

// tableOrder is the table's own order; no keys: it has none that can be computed.
func tableOrder(t *lake.Table) rewriteOrder {
	order := t.DefaultSortOrder()
	s := t.Schema().Stored()
	_, r := row(s)
	keys := dml.OrderKeys(order, s, r)
	if len(keys) == 0 {
		return rewriteOrder{}
	}
	return rewriteOrder{keys: keys, claim: order.ID, text: "the table's order"}
}

// parseOrder reads sort_order: a list of columns or transforms of them, each with a direction and
// the place of NULLs, and zorder(column, …) wherever one may stand.
//
//	a DESC NULLS LAST, bucket(16, b), zorder(c, d)
//
// As in Spark NULLS FIRST goes with ASC and NULLS LAST with DESC.
func parseOrder(t *lake.Table, text string) (rewriteOrder, error) {
	p := orderParser{text: text, schema: t.Schema().Stored()}
	p.next()
	_, p.row = row(p.schema)
	var o rewriteOrder
	for p.err == nil {
		p.term()
		if p.tok != "," {
			break
		}
		p.next()
	}
	if p.err == nil && p.tok != "" {
		p.fail("%q stands where none is expected", p.tok)
	}
	if p.err != nil {
		return o, p.err
	}
	o.keys, o.text = p.keys, text
	if !p.zorder {
		for _, known := range t.SortOrders() {
			if len(known.Fields) > 0 && slices.EqualFunc(known.Fields, p.fields, sameSortField) {
				o.claim = known.ID
			}
		}
	}
	return o, nil
}

func sameSortField(a, b lake.SortField) bool {
	return slices.Equal(a.SourceIDs, b.SourceIDs) && a.Transform.Kind == b.Transform.Kind && a.Transform.Param == b.Transform.Param &&
		a.Desc == b.Desc && a.NullsFirst == b.NullsFirst
}

type orderParser struct {
	text   string
	at     int
	tok    string // "": the end
	quoted bool
	schema *lake.Schema
	row    []plan.Expr
	keys   []plan.SortKey
	fields []lake.SortField
	zorder bool
	err    error
}

func (p *orderParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = sqlerr.New(sqlerr.InvalidParameterValue, "sort_order: "+format, args...).
			WithHint("Write: column [ASC|DESC] [NULLS FIRST|LAST], … or zorder(column, …).")
	}
}

// next reads a word, a quoted name, or one of ( ) , .
func (p *orderParser) next() {
	s := p.text
	for p.at < len(s) && strings.IndexByte(" \t\r\n", s[p.at]) >= 0 {
		p.at++
	}
	p.tok, p.quoted = "", false
	if p.at >= len(s) {
		return
	}
	if c := s[p.at]; c == '"' || c == '`' {
		p.quoted = true
		for p.at++; ; p.at++ {
			switch {
			case p.at >= len(s):
				p.fail("a quoted name has no end")
				return
			case s[p.at] != c:
				p.tok += s[p.at : p.at+1]
			case p.at+1 < len(s) && s[p.at+1] == c:
				p.tok += string(c)
				p.at++
			default:
				p.at++
				return
			}
		}
	}
	if strings.IndexByte("(),.", s[p.at]) >= 0 {
		p.tok = s[p.at : p.at+1]
		p.at++
		return
	}
	from := p.at
	for p.at < len(s) && strings.IndexByte(" \t\r\n(),.\"`", s[p.at]) < 0 {
		p.at++
	}
	p.tok = s[from:p.at]
}

func (p *orderParser) is(word string) bool { return !p.quoted && strings.EqualFold(p.tok, word) }

func (p *orderParser) accept(word string) bool {
	if !p.is(word) {
		return false
	}
	p.next()
	return true
}

func (p *orderParser) expect(word string) {
	if !p.accept(word) {
		p.fail("%q is expected after %q", word, strings.TrimSpace(p.text[:max(0, p.at-len(p.tok))]))
	}
}

// column reads a column's name, dotted for a member.
func (p *orderParser) column() *lake.Field {
	fields := p.schema.Fields
	var found *lake.Field
	path := ""
	for {
		if p.tok == "" || !p.quoted && strings.Contains("(),.", p.tok) {
			p.fail("a column is expected")
			return nil
		}
		name := p.tok
		path = strings.TrimPrefix(path+"."+name, ".")
		if found = fieldNamed(fields, name); found == nil {
			p.fail("column %q does not exist", path)
			return nil
		}
		fields = found.Children
		if p.next(); !p.accept(".") {
			return found
		}
		if found.Iceberg != "struct" {
			p.fail("column %q has no members", path)
			return nil
		}
	}
}

// fieldNamed finds a field: exactly, else the only one that differs in case alone.
func fieldNamed(fields []lake.Field, name string) *lake.Field {
	return (&lake.Schema{Fields: fields}).ByName(name)
}

// term reads one key.
func (p *orderParser) term() {
	save := *p
	word := p.tok
	if p.next(); p.err == nil && p.tok == "(" && !save.quoted {
		p.next()
		if strings.EqualFold(word, "zorder") {
			p.zorderKey()
			return
		}
		p.transformKey(strings.ToLower(word))
		return
	}
	if p.err == nil {
		*p = save
	}
	if f := p.column(); f != nil {
		p.key(f, lake.Transform{Kind: lake.Identity, Text: "identity"})
	}
}

// transformKey reads bucket(16, a), bucket(a, 16), years(a), and the like.
func (p *orderParser) transformKey(name string) {
	param, f := "", (*lake.Field)(nil)
	for p.err == nil {
		if _, err := strconv.Atoi(p.tok); err == nil && param == "" && !p.quoted {
			param = p.tok
			p.next()
		} else if f != nil {
			p.fail("%s takes one column", name)
			return
		} else if f = p.column(); f == nil {
			return
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	if f == nil {
		p.fail("%s takes a column", name)
		return
	}
	text := strings.TrimSuffix(name, "s")
	if param != "" {
		text += "[" + param + "]"
	}
	t := lake.ParseTransform(text)
	if t.Kind == lake.UnknownTransform || t.Kind == lake.Void || !t.AppliesTo(f.Iceberg) || (t.Kind == lake.Bucket || t.Kind == lake.Truncate) && t.Param <= 0 {
		p.fail("the transform %s cannot be applied to column %q of type %s", name, f.Name, f.Iceberg)
		return
	}
	p.key(f, t)
}

func (p *orderParser) key(f *lake.Field, t lake.Transform) {
	desc := p.accept("desc")
	if !desc {
		p.accept("asc")
	}
	first := !desc
	if p.accept("nulls") {
		first = p.accept("first")
		if !first {
			p.expect("last")
		}
	}
	if p.err != nil {
		return
	}
	if len(f.Children) > 0 || f.Iceberg == "variant" || f.Unreadable() != "" {
		p.fail("rows cannot be sorted by column %q of type %s", f.Name, f.Iceberg)
		return
	}
	e := dml.Transformed(p.schema, p.row, f.ID, t)
	if e == nil {
		p.fail("rows cannot be sorted by column %q", f.Name)
		return
	}
	p.keys = append(p.keys, plan.SortKey{Expr: e, Desc: desc, NullsFirst: first})
	p.fields = append(p.fields, lake.SortField{SourceIDs: []int{f.ID}, Transform: t, Desc: desc, NullsFirst: first})
}

func (p *orderParser) zorderKey() {
	var args []plan.Expr
	seen := map[int]bool{}
	for p.err == nil {
		f := p.column()
		if f == nil {
			return
		}
		if !zorderable(f.Type) || len(f.Children) > 0 {
			p.fail("zorder cannot take column %q of type %s", f.Name, f.Iceberg)
			return
		}
		if seen[f.ID] {
			p.fail("zorder has column %q twice", f.Name)
			return
		}
		seen[f.ID] = true
		args = append(args, dml.Transformed(p.schema, p.row, f.ID, lake.Transform{Kind: lake.Identity, Text: "identity"}))
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	if p.err != nil {
		return
	}
	p.zorder = true
	p.keys = append(p.keys, plan.SortKey{Expr: zorderOf(args), NullsFirst: true})
}
