package bind

// This file binds CHECK constraints: as they are declared, and again for each statement that writes
// rows of a table that has some.

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// rowLevel is a level whose columns are those of one row.
func (b *binder) rowLevel(table string, fields []lake.Field) (*level, []plan.Column) {
	lv := newLevel(nil)
	lv.kind = inCheck
	it := &item{name: table, relSeen: true, colSeen: true}
	var cols []plan.Column
	for i := range fields {
		c := b.newColumn(fields[i].Name, fields[i].Type)
		b.own(c, table, lv, fromInput)
		it.cols = append(it.cols, itemCol{name: c.Name, col: c})
		cols = append(cols, c)
	}
	lv.items = []*item{it}
	return lv, cols
}

// checkCondition binds a constraint's expression over the columns of a row.
func (b *binder) checkCondition(table string, fields []lake.Field, e ast.Expr) (plan.Expr, []plan.Column) {
	lv, cols := b.rowLevel(table, fields)
	x := b.condition(lv, e, "CHECK")
	if plan.HasSubquery(x) {
		b.fail(sqlerr.FeatureNotSupported, b.posOf(x), "cannot use subquery in check constraint")
	}
	return x, cols
}

// declareCheck binds a constraint as it is declared and gives its text with "{ref(i)}" for the
// column fields[i].
func (b *binder) declareCheck(table string, fields []lake.Field, c *ast.Check, ref func(i int) string) (check lake.Check, pred plan.Expr, cols []plan.Column) {
	pred, cols = b.checkCondition(table, fields, c.Expr)
	text, named := b.placedText(fields, c.Expr, c.SQL, c.From, ref)
	first := ""
	if len(named) == 1 {
		first = "_" + fields[named[0]].Name
	}
	check = lake.Check{Name: c.Name, SQL: text, NotEnforced: c.NotEnforced, NotValid: c.NotValid}
	if check.Name == "" {
		check.Name = table + first + "_check"
	}
	return check, pred, cols
}

// placedText is the text of e, which stands as sql from a position of the statement on, with
// "{ref(i)}" for the column fields[i], and behind "mysql:" in that dialect; named are the columns, as
// often as they are named.
func (b *binder) placedText(fields []lake.Field, e ast.Expr, sql string, at int, ref func(i int) string) (text string, named []int) {
	type hit struct{ from, to, field int }
	hits := map[int]hit{}
	walkIdents(reflect.ValueOf(e), func(id *ast.Ident) {
		for i := range fields {
			if b.d.SameName(fields[i].Name, id.Parts[len(id.Parts)-1]) {
				from := id.Pos - at
				hits[from] = hit{from, nameEnd(sql, from, len(id.Parts)), i}
				return
			}
		}
	})
	order := make([]int, 0, len(hits))
	for from := range hits {
		order = append(order, from)
	}
	sort.Ints(order)
	end := 0
	for _, from := range order {
		h := hits[from]
		text += strings.ReplaceAll(sql[end:h.from], "{", "{{") + "{" + ref(h.field) + "}"
		end = h.to
		named = append(named, h.field)
	}
	text += strings.ReplaceAll(sql[end:], "{", "{{")
	if b.d.HoldMode != nil {
		text = "mysql:" + text
	}
	return text, named
}

// walkIdents calls f with every name in a syntax tree.
func walkIdents(v reflect.Value, f func(*ast.Ident)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		if v.CanInterface() {
			if id, ok := v.Interface().(*ast.Ident); ok {
				f(id)
				return
			}
		}
		walkIdents(v.Elem(), f)
	case reflect.Struct:
		for i := range v.NumField() {
			walkIdents(v.Field(i), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walkIdents(v.Index(i), f)
		}
	}
}

// nameEnd is where the name of n parts that begins at from ends.
func nameEnd(s string, from, n int) int {
	i := from
	for ; n > 0; n-- {
		if i < len(s) && (s[i] == '"' || s[i] == '`') {
			q := s[i]
			for i++; i < len(s) && (s[i] != q || i+1 < len(s) && s[i+1] == q); i++ {
				if s[i] == q {
					i++
				}
			}
			i++
		} else {
			for i < len(s) && (s[i] == '_' || s[i] == '$' || s[i] >= 0x80 || s[i] >= '0' && s[i] <= '9' || s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z') {
				i++
			}
		}
		if n > 1 {
			for i < len(s) && (s[i] == '.' || s[i] == ' ') {
				i++
			}
		}
	}
	return min(i, len(s))
}

// checks binds the constraints of a table that is written.
func (b *binder) checks(rel *Relation) []plan.Check {
	if rel.Table == nil {
		return nil
	}
	return b.boundChecks(rel, func(c lake.Check) bool { return !c.NotEnforced })
}

// boundChecks binds those of a table's constraints that are wanted.
func (b *binder) boundChecks(rel *Relation, wanted func(lake.Check) bool) (out []plan.Check) {
	fields := rel.TableSchema.Fields
	for _, c := range rel.Table.Checks() {
		if !wanted(c) {
			continue
		}
		e, d := b.keptColumns(c.SQL, fields, c.Expand)
		if e == nil {
			b.fail(sqlerr.DataCorrupted, -1, "constraint \"%s\" of table \"%s\" cannot be read: %s", c.Name, rel.Name, c.SQL)
		}
		outer := b.d
		b.d = d
		b.inView++
		pred, cols := b.checkCondition(rel.Name, fields, e)
		b.inView--
		b.d = outer
		out = append(out, plan.Check{Name: c.Name, Pred: pred, Cols: cols})
	}
	return out
}

// keptColumns parses an expression that a table keeps as sql, whose columns expand puts the names of;
// nil where it cannot be read.
func (b *binder) keptColumns(sql string, fields []lake.Field, expand func(name func(id int) (string, bool)) (string, bool)) (ast.Expr, *Dialect) {
	mysql := strings.HasPrefix(sql, "mysql:")
	text, ok := expand(func(id int) (string, bool) {
		for i := range fields {
			if fields[i].ID == id {
				return quotedField(fields[i].Name, mysql), true
			}
		}
		return "", false
	})
	if !ok {
		return nil, nil
	}
	return b.keptSyntax(text)
}

// tableChecks are the constraints of CREATE TABLE, with columns as "{#i}", and bound for the rows of AS.
func (b *binder) tableChecks(table string, fields []lake.Field, list []ast.Check) (out []lake.Check, bound []plan.Check) {
	seen := map[string]bool{}
	for i := range list {
		c, pred, cols := b.declareCheck(table, fields, &list[i], func(i int) string { return fmt.Sprintf("#%d", i) })
		if seen[c.Name] && list[i].Name != "" {
			b.fail(sqlerr.DuplicateObject, list[i].Pos, "check constraint \"%s\" already exists", c.Name)
		}
		c.NotValid = false // the table has no rows
		for n, base := 1, c.Name; seen[c.Name]; n++ {
			c.Name = fmt.Sprintf("%s%d", base, n)
		}
		seen[c.Name] = true
		if out = append(out, c); !c.NotEnforced {
			bound = append(bound, plan.Check{Name: c.Name, Pred: pred, Cols: cols})
		}
	}
	return out, bound
}
