package lake

import (
	"encoding/json"
	"reflect"
	"sort"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// Where says where a column goes: at the end (the zero Where), first, or after a sibling.
type Where struct {
	First bool
	After string
}

// Schema is the schema as edited so far.
func (e *Edit) Schema() *Schema {
	if e.schema != nil {
		return e.schema
	}
	for _, s := range e.s.schemas {
		if s.ID == e.s.currentSchemaID {
			return s
		}
	}
	return nil
}

// editSchema gives the schema to change.
func (e *Edit) editSchema() *Schema {
	if e.schema == nil {
		s := *e.Schema()
		s.Fields = cloneFields(s.Fields)
		s.Identifier = append([]int(nil), s.Identifier...)
		e.schema = &s
	}
	return e.schema
}

func cloneFields(in []Field) []Field {
	if in == nil {
		return nil
	}
	out := append([]Field(nil), in...)
	for i := range out {
		out[i].Children = cloneFields(out[i].Children)
	}
	return out
}

// retype derives the SQL types of nested fields from their children again.
func retype(fields []Field) {
	for i := range fields {
		f := &fields[i]
		if len(f.Children) == 0 && f.Iceberg != "struct" {
			continue
		}
		retype(f.Children)
		switch f.Iceberg {
		case "struct":
			var members []types.Field
			for _, c := range f.Children {
				members = append(members, types.Field{Name: c.Name, Type: c.Type})
			}
			f.Type = types.StructOf(members...)
		case "list":
			f.Type = types.ArrayOf(f.Children[0].Type)
		case "map":
			f.Type = types.MapOf(f.Children[0].Type, f.Children[1].Type)
		}
	}
}

// members finds the fields in which path's last name lives, and its index there (-1: none).
// A path steps through lists by "element", through maps by "key" and "value".
func members(fields *[]Field, path []string) (*[]Field, int, error) {
	for i := range *fields {
		f := &(*fields)[i]
		if f.Name != path[0] {
			continue
		}
		if len(path) == 1 {
			return fields, i, nil
		}
		return members(&f.Children, path[1:])
	}
	if len(path) == 1 {
		return fields, -1, nil
	}
	return nil, 0, sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", path[0])
}

func (e *Edit) find(path []string) (*Field, error) {
	list, i, err := members(&e.editSchema().Fields, path)
	if err == nil && i < 0 {
		err = sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", strings.Join(path, "."))
	}
	if err != nil {
		return nil, err
	}
	return &(*list)[i], nil
}

// AddColumn adds a column, or a member of the struct at path's front. f's ids are given here.
// InitialDefault is what rows that exist get, WriteDefault what later rows get that give none.
func (e *Edit) AddColumn(path []string, f Field, where Where) error {
	s := e.editSchema()
	list, i, err := members(&s.Fields, path)
	if err != nil {
		return err
	}
	if i >= 0 {
		return sqlerr.New(sqlerr.DuplicateColumn, "column %q already exists", strings.Join(path, "."))
	}
	if len(path) > 1 {
		parent, err := e.find(path[:len(path)-1])
		if err != nil {
			return err
		}
		if parent.Iceberg == "list" && parent.Children[0].Iceberg == "struct" {
			return e.AddColumn(append(append(append([]string{}, path[:len(path)-1]...), "element"), path[len(path)-1]), f, where)
		}
		if parent.Iceberg != "struct" {
			return sqlerr.New(sqlerr.DatatypeMismatch, "column %q is no struct", strings.Join(path[:len(path)-1], "."))
		}
	}
	f.Name = path[len(path)-1]
	if err := e.checkNew(&f); err != nil {
		return err
	}
	if f.Required && f.InitialDefault == nil && len(e.s.snapshots) > 0 {
		return sqlerr.New(sqlerr.NotNullViolation, "column %q cannot be added NOT NULL without a default: rows that exist have no value", f.Name)
	}
	added := freshFields([]Field{f}, &e.s.lastColumnID)[0]
	*list = append(*list, added)
	e.renamed[added.ID] = true
	retype(s.Fields)
	return e.place(list, len(*list)-1, where)
}

// checkNew refuses types and defaults that the table's format version does not have.
func (e *Edit) checkNew(f *Field) error {
	e.keepDefault(f)
	if bad := f.Unreadable(); bad != "" {
		return sqlerr.New(sqlerr.FeatureNotSupported, "column %q: the type %s is not supported", f.Name, bad)
	}
	for _, d := range []*types.Datum{f.InitialDefault, f.WriteDefault} {
		if d == nil {
			continue
		}
		if f.Iceberg == "variant" && !d.IsNull() {
			return sqlerr.New(sqlerr.FeatureNotSupported, "column %q: a variant's default can only be NULL", f.Name)
		}
		if err := CheckValue(f, *d); err != nil {
			return err
		}
	}
	if e.s.formatVersion >= 3 {
		return nil
	}
	if f.InitialDefault != nil || f.WriteDefault != nil {
		return sqlerr.New(sqlerr.FeatureNotSupported, "column %q: defaults need table format version 3, this table has %d", f.Name, e.s.formatVersion).
			WithHint("ALTER TABLE … SET TBLPROPERTIES ('format-version' = '3') upgrades it.")
	}
	if t := v3Type(f); t != "" {
		return sqlerr.New(sqlerr.FeatureNotSupported, "column %q: the type %s needs table format version 3, this table has %d", f.Name, t, e.s.formatVersion).
			WithHint("ALTER TABLE … SET TBLPROPERTIES ('format-version' = '3') upgrades it.")
	}
	return nil
}

func v3Type(f *Field) string {
	switch {
	case f.Iceberg == "timestamp_ns", f.Iceberg == "timestamptz_ns", f.Iceberg == "variant", f.Iceberg == "unknown", strings.HasPrefix(f.Iceberg, "geo"):
		return f.Iceberg
	}
	for i := range f.Children {
		if t := v3Type(&f.Children[i]); t != "" {
			return t
		}
	}
	return ""
}

func (e *Edit) place(list *[]Field, i int, where Where) error {
	to := i
	switch {
	case where.First:
		to = 0
	case where.After != "":
		to = -1
		for k := range *list {
			if (*list)[k].Name == where.After {
				to = k + 1
			}
		}
		if to < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", where.After)
		}
		if to > i {
			to--
		}
	default:
		return nil
	}
	f := (*list)[i]
	rest := append(append([]Field(nil), (*list)[:i]...), (*list)[i+1:]...)
	out := append(append(append([]Field(nil), rest[:to]...), f), rest[to:]...)
	copy(*list, out)
	retype(e.schema.Fields)
	return nil
}

// MoveColumn moves a column among its siblings.
func (e *Edit) MoveColumn(path []string, where Where) error {
	list, i, err := members(&e.editSchema().Fields, path)
	if err == nil && i < 0 {
		_, err = e.find(path)
	}
	if err != nil {
		return err
	}
	return e.place(list, i, where)
}

// DropColumn removes a column. Its data stays in files that exist.
func (e *Edit) DropColumn(path []string) error {
	list, i, err := members(&e.editSchema().Fields, path)
	if err == nil && i < 0 {
		_, err = e.find(path)
	}
	if err != nil {
		return err
	}
	f := (*list)[i]
	if err := e.unused(&f, "dropped"); err != nil {
		return err
	}
	if err := e.unkeyed(&f); err != nil {
		return err
	}
	if err := e.ungenerating(&f, "dropped"); err != nil {
		return err
	}
	if err := e.undefaulting(&f); err != nil {
		return err
	}
	*list = append(append([]Field(nil), (*list)[:i]...), (*list)[i+1:]...)
	retype(e.schema.Fields)
	return nil
}

// unused refuses to touch a column that the partitioning, the sort order or the identifier
// fields stand on.
func (e *Edit) unused(f *Field, what string) error {
	ids := map[int]bool{}
	var collect func(f *Field)
	collect = func(f *Field) {
		ids[f.ID] = true
		for i := range f.Children {
			collect(&f.Children[i])
		}
	}
	collect(f)
	for _, id := range e.editSchema().Identifier {
		if ids[id] {
			return sqlerr.New(sqlerr.DependentObjectsExist, "column %q cannot be %s: it is an identifier field", f.Name, what)
		}
	}
	for _, pf := range e.Spec().Fields {
		for _, id := range pf.SourceIDs {
			if ids[id] && pf.Transform.Kind != Void {
				return sqlerr.New(sqlerr.DependentObjectsExist, "column %q cannot be %s: the table is partitioned by it", f.Name, what).
					WithHint("ALTER TABLE … DROP PARTITION FIELD first.")
			}
		}
	}
	for _, o := range e.s.sortOrders {
		if o.ID != e.s.defaultSortID {
			continue
		}
		for _, sf := range o.Fields {
			for _, id := range sf.SourceIDs {
				if ids[id] {
					return sqlerr.New(sqlerr.DependentObjectsExist, "column %q cannot be %s: the table is sorted by it", f.Name, what).
						WithHint("ALTER TABLE … WRITE UNORDERED first.")
				}
			}
		}
	}
	return nil
}

// RenameColumn gives a column another name; files know it by its id.
func (e *Edit) RenameColumn(path []string, name string) error {
	list, i, err := members(&e.editSchema().Fields, path)
	if err == nil && i < 0 {
		_, err = e.find(path)
	}
	if err != nil {
		return err
	}
	for k := range *list {
		if k != i && (*list)[k].Name == name {
			return sqlerr.New(sqlerr.DuplicateColumn, "column %q already exists", name)
		}
	}
	(*list)[i].Name = name
	e.renamed[(*list)[i].ID] = true
	retype(e.schema.Fields)
	return nil
}

// ChangeType gives a column another type: one whose values are stored alike, or a wider one that
// the spec's "Schema Evolution" allows. That no value exceeds a narrower declared type is for the
// caller to know, in the state that Change.Still keeps.
func (e *Edit) ChangeType(path []string, to Field) error {
	f, err := e.find(path)
	if err != nil {
		return err
	}
	iceberg := normalType(to.Iceberg)
	if f.Iceberg != iceberg || !f.Type.Equal(to.Type) || f.Type.Spell() != to.Type.Spell() {
		if err := e.ungenerating(f, "given another type"); err != nil {
			return err
		}
	}
	if f.Iceberg == iceberg && len(f.Children) == 0 {
		f.Type = to.Type
		retype(e.schema.Fields)
		return nil
	}
	if f.Iceberg == iceberg && iceberg == "list" && len(to.Children) == 1 {
		return e.ChangeType(append(path[:len(path):len(path)], "element"), to.Children[0])
	}
	if f.Iceberg == iceberg {
		return nil
	}
	if !e.widens(f.Iceberg, iceberg) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "column %q cannot be changed from %s to %s: values in files could not be read", f.Name, f.Iceberg, iceberg).
			WithHint("A type can become wider: int to bigint, real to double precision, numeric(p,s) to a larger p.")
	}
	if f.Iceberg == "date" {
		if err := e.unused(f, "widened"); err != nil {
			return err
		}
	}
	f.Iceberg, f.Type = iceberg, to.Type
	retype(e.schema.Fields)
	return nil
}

func (e *Edit) widens(from, to string) bool { return Widens(from, to, e.s.formatVersion) }

// Widens tells whether values of one primitive type, as Iceberg spells it, may be read as another in
// a format version (spec, "Schema Evolution"). No type widens to itself.
func Widens(from, to string, version int) bool {
	switch {
	case from == "int" && to == "long", from == "float" && to == "double":
		return true
	case from == "date" && (to == "timestamp" || to == "timestamp_ns"), from == "unknown":
		return version >= 3
	}
	p, s, ok := decimalParams(from)
	q, r, ok2 := decimalParams(to)
	return ok && ok2 && s == r && q > p
}

// SetRequired sets or drops NOT NULL. To set it the caller must know that no value is NULL, in
// the state that Change.Still keeps.
func (e *Edit) SetRequired(path []string, required bool) error {
	f, err := e.find(path)
	if err != nil {
		return err
	}
	for _, id := range e.schema.Identifier {
		if id == f.ID && !required {
			return sqlerr.New(sqlerr.DependentObjectsExist, "column %q must stay NOT NULL: it is an identifier field", f.Name)
		}
	}
	f.Required = required
	return nil
}

// SetDoc sets a column's comment.
func (e *Edit) SetDoc(path []string, doc string) error {
	f, err := e.find(path)
	if err == nil {
		f.Doc = doc
	}
	return err
}

// SetDefault sets the default for rows to come, a constant's value and its SQL; nil and "" drop it.
func (e *Edit) SetDefault(path []string, d *types.Datum, sql string) error {
	f, err := e.find(path)
	if err != nil {
		return err
	}
	if d != nil && d.IsNull() {
		d, sql = nil, ""
	}
	f.WriteDefault, f.DefaultSQL = d, sql
	first := f.InitialDefault
	e.keepDefault(f)
	f.InitialDefault = first
	return e.checkNew(&Field{Name: f.Name, Iceberg: f.Iceberg, Type: f.Type, Children: f.Children, WriteDefault: f.WriteDefault})
}

// SetIdentifier names the columns that tell rows apart (spec, "Identifier Field IDs").
func (e *Edit) SetIdentifier(paths [][]string) error {
	var ids []int
	for _, p := range paths {
		f, err := e.find(p)
		if err != nil {
			return err
		}
		if !f.Required || len(f.Children) > 0 || f.Iceberg == "float" || f.Iceberg == "double" {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "column %q cannot be an identifier field: it must be NOT NULL and neither nested nor floating-point", f.Name)
		}
		ids = append(ids, f.ID)
	}
	sort.Ints(ids)
	e.editSchema().Identifier = ids
	return nil
}

func (e *Edit) flushSchema() error {
	s := e.schema
	if s == nil {
		return nil
	}
	e.schema = nil
	next, same := -1, -1
	for _, old := range e.s.schemas {
		next = max(next, old.ID)
		a, b := *old, *s
		a.ID, b.ID = 0, 0
		if sameJSON(a.json(), b.json()) {
			same = old.ID
		}
	}
	if err := e.mapNames(s); err != nil {
		return err
	}
	if err := e.keepDeclared(s); err != nil {
		return err
	}
	if same == e.s.currentSchemaID {
		return nil
	}
	e.require("assert-current-schema-id", obj{"current-schema-id": e.s.currentSchemaID})
	if same < 0 {
		s.ID = next + 1
		same = s.ID
		e.s.schemas = append(e.s.schemas, s)
		e.update("add-schema", obj{"schema": s.json(), "last-column-id": e.s.lastColumnID})
		e.update("set-current-schema", obj{"schema-id": -1})
	} else {
		e.update("set-current-schema", obj{"schema-id": same})
	}
	e.s.currentSchemaID = same
	if e.s.formatVersion == 1 {
		if err := e.set("schema", s.json()); err != nil {
			return err
		}
	}
	for k, v := range (obj{"schemas": schemasJSON(e.s.schemas), "current-schema-id": same, "last-column-id": e.s.lastColumnID}) {
		if err := e.set(k, v); err != nil {
			return err
		}
	}
	e.retypeSpecs()
	return nil
}

func sameJSON(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && reflect.DeepEqual(x, y)
}

func (e *Edit) retypeSpecs() {
	for i, sp := range e.s.specs {
		c := &PartitionSpec{ID: sp.ID, Fields: append([]PartitionField(nil), sp.Fields...)}
		for k := range c.Fields {
			e.s.typePartitionField(&c.Fields[k])
		}
		e.s.specs[i] = c
	}
}

// mapNames teaches the name mapping, if the table has one, the names of columns that are new
// or renamed: files without ids keep being read, under every name that a column had.
func (e *Edit) mapNames(s *Schema) error {
	text := e.s.properties[nameMappingProperty]
	if text == "" || len(e.renamed) == 0 {
		return nil
	}
	var list []mappedJSON
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil // not ours to mend
	}
	list = learnNames(list, s.Fields, e.renamed)
	e.renamed = map[int]bool{}
	b, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return e.SetProperties(map[string]string{nameMappingProperty: string(b)})
}

func learnNames(list []mappedJSON, fields []Field, renamed map[int]bool) []mappedJSON {
	for i := range fields {
		f := &fields[i]
		at := -1
		for k := range list {
			if list[k].ID != nil && *list[k].ID == f.ID {
				at = k
			}
		}
		if at < 0 {
			if !renamed[f.ID] {
				continue
			}
			id := f.ID
			list = append(list, mappedJSON{ID: &id, Names: []string{}})
			at = len(list) - 1
		}
		if renamed[f.ID] {
			// A name stands for one column only: an older bearer loses it.
			for k := range list {
				list[k].Names = without(list[k].Names, f.Name)
			}
			list[at].Names = append(list[at].Names, f.Name)
		}
		list[at].Fields = learnNames(list[at].Fields, f.Children, renamed)
	}
	return list
}

func without(list []string, s string) []string {
	out := []string{}
	for _, v := range list {
		if v != s {
			out = append(out, v)
		}
	}
	return out
}
