package lake

import (
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Spec is the partition spec as edited so far.
func (e *Edit) Spec() *PartitionSpec {
	if e.spec != nil {
		return e.spec
	}
	for _, s := range e.s.specs {
		if s.ID == e.s.defaultSpecID {
			return s
		}
	}
	return &PartitionSpec{}
}

func (e *Edit) editSpec() *PartitionSpec {
	if e.spec == nil {
		s := e.Spec()
		e.spec = &PartitionSpec{ID: s.ID, Fields: append([]PartitionField(nil), s.Fields...)}
	}
	return e.spec
}

// SplitPath cuts a dotted column path that a statement spells as one string.
func SplitPath(s string) []string { return strings.Split(s, ".") }

func (e *Edit) partitionField(by PartitionBy) (PartitionField, error) {
	f, err := e.lookup(by.Column)
	if err != nil {
		return PartitionField{}, err
	}
	if !by.Transform.AppliesTo(f.Iceberg) {
		return PartitionField{}, sqlerr.New(sqlerr.InvalidTableDefinition, "the transform %s does not apply to column %q of type %s", by.Transform, by.Column, f.Iceberg)
	}
	pf := PartitionField{SourceIDs: []int{f.ID}, Name: by.Name, Transform: by.Transform}
	pf.Type, pf.Iceberg = by.Transform.Result(f.Stored(), f.Iceberg)
	if pf.Name == "" {
		pf.Name = by.conventional()
	}
	return pf, nil
}

// lookup finds a column by its dotted path without opening the schema for change. A column
// whose own name has dots is found first.
func (e *Edit) lookup(column string) (*Field, error) {
	s := e.Schema()
	if f := s.ByName(column); f != nil {
		return f, nil
	}
	fields := s.Fields
	list, i, err := members(&fields, SplitPath(column))
	if err == nil && i < 0 {
		err = sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", column)
	}
	if err != nil {
		return nil, err
	}
	return &(*list)[i], nil
}

// conventional is the name that other engines give a partition field.
func (by PartitionBy) conventional() string {
	col := strings.ReplaceAll(by.Column, ".", "_")
	switch by.Transform.Kind {
	case Bucket:
		return col + "_bucket_" + strconv.Itoa(by.Transform.Param)
	case Truncate:
		return col + "_trunc_" + strconv.Itoa(by.Transform.Param)
	case Year, Month, Day, Hour:
		return col + "_" + by.Transform.String()
	case Void:
		return col + "_null"
	}
	return by.Column
}

// AddPartitionField adds a field to the partitioning of files to come.
func (e *Edit) AddPartitionField(by PartitionBy) error {
	pf, err := e.partitionField(by)
	if err != nil {
		return err
	}
	sp := e.editSpec()
	for i, old := range sp.Fields {
		same := sameSource(&old, &pf)
		if same && old.Transform.Kind != Void {
			return sqlerr.New(sqlerr.DuplicateObject, "the table is partitioned by %s of %q already", by.Transform, by.Column)
		}
		if old.Name != pf.Name {
			continue
		}
		if old.Transform.Kind != Void {
			return sqlerr.New(sqlerr.DuplicateObject, "partition field %q already exists", pf.Name)
		}
		// In v1 a dropped field stays as void; it makes room for the name.
		sp.Fields[i].Name = old.Name + "_" + strconv.Itoa(old.FieldID)
	}
	for i := range e.Schema().Fields {
		if c := &e.Schema().Fields[i]; c.Name == pf.Name && (pf.Transform.Kind != Identity || c.ID != pf.SourceIDs[0]) {
			return sqlerr.New(sqlerr.DuplicateObject, "partition field %q would have the name of a column", pf.Name).
				WithHint("Give the field another name: … AS name.")
		}
	}
	pf.FieldID = e.partitionID(&pf, by.Name != "")
	sp.Fields = append(sp.Fields, pf)
	return nil
}

func sameSource(a, b *PartitionField) bool {
	return len(a.SourceIDs) == 1 && a.SourceIDs[0] == b.SourceIDs[0] &&
		a.Transform.Kind == b.Transform.Kind && a.Transform.Param == b.Transform.Param
}

// partitionID gives a field that an earlier spec had its id again, so that both are one column
// of the partition tuple; else a new one.
func (e *Edit) partitionID(pf *PartitionField, named bool) int {
	if e.s.formatVersion >= 2 {
		for _, sp := range e.s.specs {
			for _, old := range sp.Fields {
				if sameSource(&old, pf) && (!named || old.Name == pf.Name) {
					if !named {
						pf.Name = old.Name
					}
					return old.FieldID
				}
			}
		}
	}
	e.s.lastPartitionID++
	return e.s.lastPartitionID
}

// DropPartitionField removes a field by its name. In v1 it stays, as void.
func (e *Edit) DropPartitionField(name string) error {
	sp := e.editSpec()
	for i := range sp.Fields {
		if sp.Fields[i].Name != name || sp.Fields[i].Transform.Kind == Void {
			continue
		}
		if e.s.formatVersion == 1 {
			sp.Fields[i].Transform = Transform{Kind: Void, Text: "void"}
			e.s.typePartitionField(&sp.Fields[i])
			return nil
		}
		sp.Fields = append(append([]PartitionField(nil), sp.Fields[:i]...), sp.Fields[i+1:]...)
		return nil
	}
	return sqlerr.New(sqlerr.UndefinedObject, "partition field %q does not exist", name).WithHint("%s", e.partitionNames())
}

func (e *Edit) partitionNames() string {
	var names []string
	for _, f := range e.Spec().Fields {
		if f.Transform.Kind != Void {
			names = append(names, strconv.Quote(f.Name))
		}
	}
	if len(names) == 0 {
		return "The table is not partitioned."
	}
	return "The table is partitioned by " + strings.Join(names, ", ") + "."
}

// PartitionFieldName finds a field by what it computes: DROP PARTITION FIELD bucket(16, id).
func (e *Edit) PartitionFieldName(by PartitionBy) (string, error) {
	pf, err := e.partitionField(by)
	if err != nil {
		return "", err
	}
	for i := range e.Spec().Fields {
		if f := &e.Spec().Fields[i]; sameSource(f, &pf) {
			return f.Name, nil
		}
	}
	return "", sqlerr.New(sqlerr.UndefinedObject, "the table is not partitioned by %s of %q", by.Transform, by.Column).WithHint("%s", e.partitionNames())
}

// SetPartitioning replaces the whole partitioning.
func (e *Edit) SetPartitioning(list []PartitionBy) error {
	keep := map[string]bool{}
	var add []PartitionBy
	for _, by := range list {
		if name, err := e.PartitionFieldName(by); err == nil && (by.Name == "" || by.Name == name) {
			keep[name] = true
			continue
		}
		add = append(add, by)
	}
	for _, f := range append([]PartitionField(nil), e.Spec().Fields...) {
		if f.Transform.Kind != Void && !keep[f.Name] {
			if err := e.DropPartitionField(f.Name); err != nil {
				return err
			}
		}
	}
	for _, by := range add {
		if err := e.AddPartitionField(by); err != nil {
			return err
		}
	}
	return nil
}

func (e *Edit) flushSpec() error {
	sp := e.spec
	if sp == nil {
		return nil
	}
	e.spec = nil
	next, same := -1, -1
	for _, old := range e.s.specs {
		next = max(next, old.ID)
		if sameJSON(specFieldsJSON(old), specFieldsJSON(sp)) {
			same = old.ID
		}
	}
	if same == e.s.defaultSpecID {
		return nil
	}
	e.require("assert-default-spec-id", obj{"default-spec-id": e.s.defaultSpecID})
	if same < 0 {
		sp.ID = next + 1
		same = sp.ID
		e.s.specs = append(e.s.specs, sp)
		e.update("add-spec", obj{"spec": specJSON{SpecID: sp.ID, Fields: specFieldsJSON(sp)}})
		e.update("set-default-spec", obj{"spec-id": -1})
	} else {
		e.update("set-default-spec", obj{"spec-id": same})
	}
	e.s.defaultSpecID = same
	if e.s.formatVersion == 1 {
		if err := e.set("partition-spec", specFieldsJSON(sp)); err != nil {
			return err
		}
	}
	for k, v := range (obj{"partition-specs": specsJSON(e.s.specs), "default-spec-id": same, "last-partition-id": e.s.lastPartitionID}) {
		if err := e.set(k, v); err != nil {
			return err
		}
	}
	return nil
}

// SetSortOrder declares the order of rows in files to come; none: unsorted.
func (e *Edit) SetSortOrder(list []SortBy) error {
	if err := e.flush(); err != nil {
		return err
	}
	o := &SortOrder{}
	for _, by := range list {
		f, err := e.lookup(by.Column)
		if err != nil {
			return err
		}
		if by.Transform.Kind != Identity && !by.Transform.AppliesTo(f.Iceberg) || len(f.Children) > 0 || f.Iceberg == "variant" {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "rows cannot be sorted by %s of column %q of type %s", by.Transform, by.Column, f.Iceberg)
		}
		o.Fields = append(o.Fields, SortField{SourceIDs: []int{f.ID}, Transform: by.Transform, Desc: by.Desc, NullsFirst: by.NullsFirst})
	}
	next, same := 0, -1
	for _, old := range e.s.sortOrders {
		next = max(next, old.ID)
		if sameJSON(old.json().Fields, o.json().Fields) {
			same = old.ID
		}
	}
	said := same
	if same < 0 {
		said = -1 // a REST catalog numbers orders itself; -1 is the last one added
		o.ID = next + 1
		if len(o.Fields) == 0 {
			o.ID = 0
		}
		same = o.ID
		e.s.sortOrders = append(e.s.sortOrders, o)
		e.update("add-sort-order", obj{"sort-order": o.json()})
	}
	if same == e.s.defaultSortID && e.doc["default-sort-order-id"] != nil {
		return nil
	}
	e.s.defaultSortID = same
	e.update("set-default-sort-order", obj{"sort-order-id": said})
	if err := e.set("sort-orders", sortOrdersJSON(e.s.sortOrders)); err != nil {
		return err
	}
	return e.set("default-sort-order-id", same)
}
