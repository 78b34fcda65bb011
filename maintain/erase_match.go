package maintain

import (
	"bytes"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/scan/parquet"
	"github.com/lhsql/lhsql/types"
)

// minNeedle is the length in bytes from which on a value is looked for anywhere in bytes. A shorter
// one would be found by chance.
const minNeedle = 6

// matcher is what is looked for in one table. Values are compared exactly, byte for byte, whatever a
// dialect's collation says: a file holds bytes.
type matcher struct {
	// fields are those that bear the column's name, by id: the one that the table has now, and those
	// that it had and dropped. One that was renamed is a field like before.
	fields map[int]*matchField
	// now is the field in the table's schema, with the path of field ids to it; nil: it was dropped.
	now  *lake.Field
	path []int
	// defaults are the fields, by id, for which files from before they were added take a value that is
	// looked for.
	defaults []int
	// needles are looked for as bytes: the values, and how paths spell them.
	needles [][]byte
	table   *lake.Table
}

type matchField struct {
	field  *lake.Field
	values []types.Datum
	names  []string // by any schema, for files without field ids: dotted
}

func newMatcher(t *lake.Table, column, values []string) (*matcher, error) {
	m := &matcher{fields: map[int]*matchField{}, table: t}
	if f, path := fieldByNames(t.Schema().Fields, column); f != nil {
		m.now, m.path = f, path
		m.fields[f.ID] = &matchField{field: f}
	}
	renamed := ""
	for _, s := range slices.Backward(t.Schemas()) { // the newest type of a field is the widest
		f, _ := fieldByNames(s.Fields, column)
		if f == nil || m.fields[f.ID] != nil {
			continue
		}
		if g, _ := t.Schema().ByID(f.ID); g != nil {
			renamed = g.Name // it is another column by now
			continue
		}
		m.fields[f.ID] = &matchField{field: f}
	}
	name := strings.Join(column, ".")
	if len(m.fields) == 0 {
		err := sqlerr.New(sqlerr.UndefinedColumn, "column %q of table %s does not exist, and never did", name, t.Name.Table)
		if renamed != "" {
			err = sqlerr.New(sqlerr.UndefinedColumn, "column %q of table %s does not exist", name, t.Name.Table).WithHint("It is called %q now.", renamed)
		}
		return nil, err
	}
	for id, x := range m.fields {
		for _, s := range t.Schemas() {
			if n := namesOf(s.Fields, id, nil); n != nil && !slices.Contains(x.names, strings.Join(n, ".")) {
				x.names = append(x.names, strings.Join(n, "."))
			}
		}
		for _, v := range values {
			d, err := types.Parse(v, x.field.Type, nil)
			if err == nil && x.field.Children != nil {
				err = sqlerr.New(sqlerr.FeatureNotSupported, "column %q is of type %s: name a value in it", name, x.field.Iceberg)
			}
			if err != nil && m.now != nil && m.now.ID == id {
				return nil, err
			}
			if err != nil || x.field.Children != nil {
				continue
			}
			x.values = append(x.values, d)
			m.needle(d, x.field, v)
			if def := x.field.InitialDefault; def != nil && types.Compare(*def, d, x.field.Type) == 0 {
				m.defaults = append(m.defaults, id)
			}
		}
	}
	return m, nil
}

// needle adds the spellings of a value.
func (m *matcher) needle(d types.Datum, f *lake.Field, text string) {
	add := func(s string) {
		if len(s) >= minNeedle && !slices.ContainsFunc(m.needles, func(n []byte) bool { return string(n) == s }) {
			m.needles = append(m.needles, []byte(s))
		}
	}
	switch f.Type.Kind {
	case types.UUID:
		text = types.Format(d, f.Type, nil)
		add(string(lake.EncodeBound(d, "uuid")))
		add(text)
	case types.Bytea:
		add(d.Str())
	case types.Text:
		add(text)
		add(url.QueryEscape(text))
		add(url.PathEscape(text))
	}
}

// searched says whether values are looked for as bytes, too.
func (m *matcher) searched() string {
	for _, x := range m.fields {
		for _, v := range x.values {
			if x.field.Type.Form() != types.FormStr && x.field.Type.Kind != types.UUID || x.field.Type.Form() == types.FormStr && len(v.Str()) < minNeedle {
				return "values"
			}
		}
	}
	return "bytes"
}

// fieldByNames finds a field by the names of its path, exactly or, where that is unique, whatever the
// case of the letters.
func fieldByNames(fields []lake.Field, names []string) (*lake.Field, []int) {
	var path []int
	for i, n := range names {
		s := lake.Schema{Fields: fields}
		f := s.ByName(n)
		if f == nil {
			return nil, nil
		}
		path = append(path, f.ID)
		if i == len(names)-1 {
			return f, path
		}
		if f.Iceberg != "struct" {
			return nil, nil
		}
		fields = f.Children
	}
	return nil, nil
}

func namesOf(fields []lake.Field, id int, above []string) []string {
	for i := range fields {
		f := &fields[i]
		p := append(above[:len(above):len(above)], f.Name)
		if f.ID == id {
			return p
		}
		if n := namesOf(f.Children, id, p); n != nil {
			return n
		}
	}
	return nil
}

// ids are those of the fields whose bounds are of interest.
func (m *matcher) ids() []int {
	out := []int{filePathField}
	for id := range m.fields {
		out = append(out, id)
	}
	return out
}

// filePathField is a position delete file's column file_path (spec, "Reserved Field IDs").
const filePathField = 2147483546

// inText tells whether a text holds a value.
func (m *matcher) inText(s string) bool { return m.inBytes([]byte(s)) }

// inPath tells whether a path has a value in a name of its own. Of a partition's folder, name=value,
// only the whole value counts: another may begin alike.
func (m *matcher) inPath(p string) bool {
	for _, name := range strings.Split(p, "/") {
		_, value, folder := strings.Cut(name, "=")
		for _, n := range m.needles {
			if folder && value == string(n) || !folder && strings.Contains(name, string(n)) {
				return true
			}
		}
	}
	return false
}

func (m *matcher) inBytes(b []byte) bool {
	for _, n := range m.needles {
		if bytes.Contains(b, n) {
			return true
		}
	}
	return false
}

// redact takes the value out of a text, so that evidence may hold it.
func (m *matcher) redact(s string) string {
	for _, n := range m.needles {
		s = strings.ReplaceAll(s, string(n), "[erased]")
	}
	// A number's partition folder is name=value.
	for _, x := range m.fields {
		for _, v := range x.values {
			text := types.Format(v, x.field.Type, nil)
			for _, n := range x.names {
				s = strings.ReplaceAll(s, n+"="+text+"/", n+"=[erased]/")
			}
			for _, sp := range m.table.Specs() {
				for _, f := range sp.Fields {
					if len(f.SourceIDs) == 1 && f.SourceIDs[0] == x.field.ID && f.Transform.Kind == lake.Identity {
						s = strings.ReplaceAll(s, f.Name+"="+url.QueryEscape(text)+"/", f.Name+"=[erased]/")
					}
				}
			}
		}
	}
	return s
}

// bound tells whether bounds of a file's fields are values, or show that none of the fields has one.
func (m *matcher) bound(f *lake.DataFile) (equal string, excluded bool) {
	excluded = true
	for id, x := range m.fields {
		lo, ok1 := lake.DecodeBound(x.field.Type, x.field.Iceberg, f.Lower[id])
		hi, ok2 := lake.DecodeBound(x.field.Type, x.field.Iceberg, f.Upper[id])
		for _, v := range x.values {
			switch {
			case ok1 && types.Compare(v, lo, x.field.Type) == 0:
				equal = "lower bound of " + x.field.Name
			case ok2 && types.Compare(v, hi, x.field.Type) == 0:
				equal = "upper bound of " + x.field.Name
			}
			if !m.noValues(f, id) && !outside(v, lo, hi, ok1, ok2, x.field.Type) {
				excluded = false
			}
		}
	}
	if equal == "" && (m.inPath(string(f.Lower[filePathField])) || m.inPath(string(f.Upper[filePathField]))) {
		equal = "bounds of file_path"
	}
	return equal, excluded
}

// minCut is the length from which on the beginning of a value says much of it. Writers cut bounds of
// texts at 16 characters.
const minCut = 8

// cut tells which bound of a file is the beginning of a value, as writers cut bounds off: an upper one
// with its last character counted up.
func (m *matcher) cut(f *lake.DataFile) string {
	for id, x := range m.fields {
		if x.field.Type.Form() != types.FormStr {
			continue
		}
		lo, hi := string(f.Lower[id]), string(f.Upper[id])
		for _, v := range x.values {
			if s := v.Str(); len(lo) >= minCut && strings.HasPrefix(s, lo) {
				return holderBounds + ": lower bound of " + x.field.Name + ", cut off"
			} else if n := len(hi) - 1; n+1 >= minCut && strings.HasPrefix(s, hi[:n]) {
				return holderBounds + ": upper bound of " + x.field.Name + ", cut off"
			}
		}
	}
	return ""
}

// outside tells whether bounds prove that a value is not between them. Bounds the wrong way round
// prove nothing, nor does an upper one that is the beginning of the value: it may have been cut off.
func outside(v, lo, hi types.Datum, ok1, ok2 bool, t types.Type) bool {
	if ok1 && ok2 && types.Compare(lo, hi, t) > 0 {
		return false
	}
	if ok1 && types.Compare(v, lo, t) < 0 {
		return true
	}
	if !ok2 || types.Compare(v, hi, t) <= 0 {
		return false
	}
	return t.Form() != types.FormStr || !strings.HasPrefix(v.Str(), hi.Str())
}

// noValues tells whether a file is known to have only NULLs in a field.
func (m *matcher) noValues(f *lake.DataFile, id int) bool {
	n, ok1 := f.NullCounts[id]
	c, ok2 := f.ValueCounts[id]
	return ok1 && ok2 && n == c && c > 0
}

// partition tells whether a partition's value is one that is looked for: then all of a file's rows
// have it, or had.
func (m *matcher) partition(spec *lake.PartitionSpec, values []types.Datum) (string, bool) {
	if spec == nil {
		return "", false
	}
	for i, f := range spec.Fields {
		if i >= len(values) || values[i].IsNull() || len(f.SourceIDs) != 1 {
			continue
		}
		x := m.fields[f.SourceIDs[0]]
		if x == nil || !whole(f, x) {
			continue
		}
		for _, v := range x.values {
			if types.Compare(v, values[i], x.field.Type) == 0 {
				return f.Name, true
			}
		}
	}
	return "", false
}

// whole tells whether a partition field may have a column's values as they are.
func whole(f lake.PartitionField, x *matchField) bool {
	return f.Transform.Kind == lake.Identity || f.Transform.Kind == lake.Truncate && x.field.Type.Form() == types.FormStr
}

// summary tells which field of a manifest's summaries has a value as its bound.
func (m *matcher) summary(mf *lake.Manifest) (string, bool) {
	spec := m.table.Spec(mf.SpecID)
	if spec == nil {
		return "", false
	}
	for i, f := range spec.Fields {
		if i >= len(mf.Partitions) || len(f.SourceIDs) != 1 {
			continue
		}
		s := mf.Partitions[i]
		x := m.fields[f.SourceIDs[0]]
		if x == nil || !whole(f, x) {
			continue
		}
		for _, b := range [][]byte{s.Lower, s.Upper} {
			d, ok := lake.DecodeBound(x.field.Type, x.field.Iceberg, b)
			for _, v := range x.values {
				if ok && types.Compare(v, d, x.field.Type) == 0 {
					return f.Name, true
				}
			}
		}
	}
	return "", false
}

// at is the field that a file's leaf holds values of, nil if it is none of those. Files without field ids
// have names.
func (m *matcher) at(n *parquet.Node, path []string) *matchField {
	if n.ID >= 0 {
		return m.fields[n.ID]
	}
	name := strings.Join(path, ".")
	for _, x := range m.fields {
		if slices.Contains(x.names, name) {
			return x
		}
	}
	return nil
}

// isPartitionStatistics tells whether a file holds a table's partition statistics. Its field ids are its own
// (spec, "Partition Statistics File"): 3 is data_record_count there, whatever the table's third column is.
func (m *matcher) isPartitionStatistics(root *parquet.Node) bool {
	own := 0 // columns of the table that are called so, too: then its data files look alike
	for i, name := range []string{"partition", "spec_id", "data_record_count"} {
		if i >= len(root.Children) || root.Children[i].Name != name || root.Children[i].ID != i+1 || root.Children[i].IsLeaf() != (i > 0) {
			return false
		}
		if slices.ContainsFunc(m.table.Schemas(), func(s *lake.Schema) bool { return slices.Equal(namesOf(s.Fields, i+1, nil), []string{name}) }) {
			own++
		}
	}
	return own < 3
}

// ofPartition is the column whose values a leaf of partition statistics holds as they are, nil if there is none.
func (m *matcher) ofPartition(n *parquet.Node) *matchField {
	for _, spec := range m.table.Specs() {
		for _, f := range spec.Fields {
			if f.FieldID != n.ID || len(f.SourceIDs) != 1 {
				continue
			}
			if x := m.fields[f.SourceIDs[0]]; x != nil && whole(f, x) {
				return x
			}
		}
	}
	return nil
}

// shows tells whether a schema shows one of the fields.
func shows(s *lake.Schema, ids []int) bool {
	return slices.ContainsFunc(ids, func(id int) bool { return idsTo(s.Fields, id) != nil })
}

// condition is the condition on rows as a schema of the table's shows them.
type condition struct {
	schema *lake.Schema
	reads  []plan.ScanColumn // the top-level columns that it is over, with the ids that row gives them
	pred   plan.Expr         // never NULL; nil: the schema shows no such column
}

// condition is the one on rows that have a value in a field which the schema shows.
func (m *matcher) condition(s *lake.Schema) (condition, error) {
	c := condition{schema: s}
	cols, _ := row(s)
	var any []plan.Expr
	for _, id := range slices.Sorted(maps.Keys(m.fields)) {
		path := idsTo(s.Fields, id)
		if path == nil {
			continue
		}
		at := slices.IndexFunc(s.Fields, func(f lake.Field) bool { return f.ID == path[0] })
		c.reads = append(c.reads, plan.ScanColumn{Column: cols[at], FieldID: path[0]})
		var e plan.Expr = plan.ColOf(cols[at])
		f := &s.Fields[at]
		for _, id := range path[1:] {
			i := slices.IndexFunc(f.Children, func(c lake.Field) bool { return c.ID == id })
			f = &f.Children[i]
			e = &plan.FieldOf{X: e, Index: i, Typ: f.Type}
		}
		for _, v := range m.fields[id].values {
			// The value is of the field's widest type.
			args := []plan.Expr{e, &plan.Const{Value: v, Typ: m.fields[id].field.Type}}
			r, err := eval.ResolveOperator(plan.NotDistinctOp, []types.Type{args[0].Type(), args[1].Type()})
			if err != nil {
				return c, err
			}
			for i := range args {
				if i < len(r.Args) && !args[i].Type().Same(r.Args[i]) {
					args[i] = &plan.Cast{X: args[i], Typ: r.Args[i], Context: plan.Implicit, Pos: -1}
				}
			}
			any = append(any, &plan.Call{Func: r.Func, Args: args, Typ: types.T(types.Bool), Pos: -1})
		}
	}
	switch len(any) {
	case 0:
	case 1:
		c.pred = any[0]
	default:
		c.pred = &plan.Or{Args: any}
	}
	return c, nil
}

// idsTo is the path of field ids to a field that structs alone are around; nil: there is none.
func idsTo(fields []lake.Field, id int) []int {
	for i := range fields {
		f := &fields[i]
		if f.ID == id {
			return []int{id}
		}
		if f.Iceberg != "struct" {
			continue
		}
		if p := idsTo(f.Children, id); p != nil {
			return append([]int{f.ID}, p...)
		}
	}
	return nil
}
