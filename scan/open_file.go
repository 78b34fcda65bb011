package scan

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/lake/store"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/scan/parquet"
	"github.com/lhsql/lhsql/types"
)

// openFile is a data file that is being scanned, shared by the sources that work on it.
type openFile struct {
	s        *Scanner
	task     *plan.FileTask
	file     store.File
	identity string // of file
	footer   *parquet.Footer
	columns  []fileColumn // by slot
	deleted  *posSet      // rows that position deletes or a deletion vector name; nil: none
	equal    []*equalitySet
	eqSlots  [][]int         // slots of each equalitySet's fields
	held     *parquet.Budget // what deleted takes

	residual []plan.Expr  // conjuncts that the file's rows must pass
	pending  atomic.Int32 // morsels not done
}

// fileColumn is where a file has a slot's values.
type fileColumn struct {
	spec  *parquet.Spec       // nil: not read from the file, or besides it (row lineage)
	conv  *parquet.Conversion // of a flat spec, for statistics
	known bool                // every row has the value konst
	konst types.Datum
}

// done ends one morsel; the last closes the file.
func (f *openFile) done() {
	if f.pending.Add(-1) == 0 {
		f.file.Close()
		if f.held != nil {
			f.held.Close()
		}
		f.s.deletes.done(f.task)
		if f.s.env.Done != nil {
			f.s.env.Done(f.task.File)
		}
	}
}

// atFile names the file in an error of reading it.
func atFile(err error, path string) error {
	if err == nil {
		return nil
	}
	e, ok := sqlerr.As(err)
	if !ok {
		if err == context.Canceled || err == context.DeadlineExceeded {
			return err
		}
		return sqlerr.Wrap(err, sqlerr.IOError, "reading %s", path)
	}
	if e.Detail != "" || (e.Code != sqlerr.DataCorrupted && e.Code != sqlerr.FeatureNotSupported) {
		return err
	}
	named := *e // errors may be shared values
	return named.WithDetail("The file is %s.", path)
}

// guard turns a panic while decoding a file, which would be an error of ours that bad data
// brought to light, into an error of that file. It is the last resort: decoders check.
func guard(path string, err *error) {
	p := recover()
	if p == nil {
		return
	}
	if v, ok := p.(invariant.Violation); ok {
		panic(v)
	}
	*err = sqlerr.New(sqlerr.DataCorrupted, "a Parquet file cannot be decoded: %s", fmt.Sprint(p)).
		WithDetail("The file is %s.", path)
}

// open opens the task's file and plans its row groups.
func (s *Scanner) open(ctx context.Context, task *plan.FileTask) (ms []morsel, err error) {
	path := task.File.Path
	defer func() { err = atFile(err, path) }()
	defer guard(path, &err)
	if err := checkReadable(task.File); err != nil {
		return nil, err
	}
	filters := s.runtimeFilters()
	skip := s.excludesFile(task.File, filters)
	for i := range filters {
		skip = skip || filters[i].keys.Empty()
	}
	if skip {
		s.count.filesSkipped.Add(1)
		s.deletes.done(task)
		return nil, nil
	}
	file, footer, err := s.openParquet(ctx, task.File)
	if err != nil {
		return nil, err
	}
	f := &openFile{s: s, task: task, file: file, identity: file.Identity(), footer: footer}
	f.pending.Store(1)
	defer f.done()
	s.count.files.Add(1)
	if err := s.bind(f); err != nil {
		return nil, err
	}
	if err := s.loadDeletes(ctx, f); err != nil {
		return nil, err
	}
	f.residual = plan.Conjuncts(task.Residual)
	if s.env.NoPruning {
		f.residual = plan.Conjuncts(s.node.Pred)
	}
	for g := range f.footer.Groups {
		more, err := s.planGroup(ctx, f, g, filters)
		if err != nil {
			return nil, err
		}
		ms = append(ms, more...)
	}
	f.pending.Add(int32(len(ms)))
	return ms, nil
}

// openParquet opens a file and reads its footer. Manifests have been seen to give wrong sizes:
// where the footer is not at the end that they tell, the store is asked.
func (s *Scanner) openParquet(ctx context.Context, df *lake.DataFile) (store.File, *parquet.Footer, error) {
	at := s.node.Table.Resolve(df.Path)
	size := df.FileSize
	if size <= 0 {
		size = -1
	}
	file, err := s.node.Table.FS().Open(ctx, at, size)
	if err != nil {
		return nil, nil, err
	}
	footer, err := s.env.Footers.Get(ctx, file, s.env.Mem)
	if err == nil {
		if err := sameRows(footer, df); err != nil {
			file.Close()
			return nil, nil, err
		}
		return file, footer, nil
	}
	told := file.Size()
	file.Close()
	if size < 0 || ctx.Err() != nil {
		return nil, nil, err
	}
	again, openErr := s.node.Table.FS().Open(ctx, at, -1)
	if openErr != nil {
		return nil, nil, err
	}
	if again.Size() != told {
		if footer, err = s.env.Footers.Get(ctx, again, s.env.Mem); err == nil {
			if err = sameRows(footer, df); err == nil {
				return again, footer, nil
			}
		}
	}
	again.Close()
	return nil, nil, err
}

// sameRows: a file that is cut short, or another one in its place, must not pass for fewer rows.
func sameRows(footer *parquet.Footer, df *lake.DataFile) error {
	if footer.Rows == df.RecordCount || df.RecordCount < 0 {
		return nil
	}
	return sqlerr.New(sqlerr.DataCorrupted, "a Parquet file has %d rows, its manifest says %d", footer.Rows, df.RecordCount)
}

func checkReadable(f *lake.DataFile) error {
	switch {
	case f.Encrypted:
		return sqlerr.New(sqlerr.FeatureNotSupported, "encrypted data files cannot be read")
	case f.Format != "parquet":
		return sqlerr.New(sqlerr.FeatureNotSupported, "data files in %s cannot be read", f.Format)
	}
	return nil
}

// bind finds the slots' values in the file (promise R2): by field id, then the identity
// partition value, name mapping (which only files without ids need), initial default, NULL.
func (s *Scanner) bind(f *openFile) error {
	r, err := newResolver(f.footer, s.node.Table.NameMapping())
	if err != nil {
		return err
	}
	spec := s.node.Table.Spec(f.task.File.SpecID)
	f.columns = make([]fileColumn, len(s.slots))
	for i := range s.slots {
		if f.columns[i], err = s.bindSlot(&s.slots[i], f, r, spec); err != nil {
			return err
		}
		c := &f.columns[i]
		if f := s.slots[i].field; f != nil && !lake.OrderedAsStored(s.slots[i].Type) {
			continue // what statistics say is of other values
		}
		if c.spec != nil && c.spec.Kind == parquet.Value && c.spec.Node.MaxRep == 0 && c.spec.Node.MaxDef <= 1 {
			conv, err := parquet.ConversionFor(c.spec.Node, c.spec.Type)
			if err != nil {
				return err
			}
			c.conv = &conv
		}
	}
	return nil
}

func (s *Scanner) bindSlot(sl *slot, f *openFile, r *resolver, part *lake.PartitionSpec) (fileColumn, error) {
	if sl.field == nil {
		return bindHidden(sl, f, r)
	}
	if bad := sl.field.Unreadable(); bad != "" {
		return fileColumn{}, sqlerr.New(sqlerr.FeatureNotSupported, "column %q has the Iceberg type %s, which is not supported", sl.field.Name, bad)
	}
	field := sl.field
	if len(sl.inner) > 0 {
		field = pruneTo(field, sl.inner)
	}
	spec, err := r.spec(field, f.footer.Root)
	if err != nil {
		return fileColumn{}, err
	}
	if spec != nil && spec.Kind == parquet.Constant {
		return fileColumn{known: true, konst: spec.Const}, nil
	}
	if spec != nil {
		return fileColumn{spec: spec}, nil
	}
	if d, ok := identityValue(part, f.task.File, field.ID); ok {
		return fileColumn{known: true, konst: d}, nil
	}
	if err := s.lost(field, f.footer.Root, r); err != nil {
		return fileColumn{}, err
	}
	d, err := absent(field)
	return fileColumn{known: true, konst: d}, err
}

// lost tells of a file's column that would be read as absent because its field id is damaged: one
// of the field's name without an id though others have theirs, or with one that the table has
// never given.
func (s *Scanner) lost(field *lake.Field, root *parquet.Node, r *resolver) error {
	for _, n := range root.Children {
		if n.Name == field.Name && r.mapped == nil && (n.ID < 0 && !n.HasIDs() || n.ID > s.node.Table.LastColumnID() && n.ID < lake.FirstReservedID) {
			return sqlerr.New(sqlerr.DataCorrupted, "column %q of a Parquet file has not the field id %d, nor another of the table's", n.Name, field.ID)
		}
	}
	return nil
}

// bindHidden finds the scan's own columns. A file may carry row lineage of its own: a value
// there wins over what is inherited (spec, "Row Lineage").
func bindHidden(sl *slot, f *openFile, r *resolver) (fileColumn, error) {
	file := f.task.File
	switch sl.FieldID {
	case plan.HiddenFile:
		return fileColumn{known: true, konst: types.NewStr(file.Path)}, nil
	case plan.HiddenSpecID:
		return fileColumn{known: true, konst: types.NewInt(int64(file.SpecID))}, nil
	case plan.HiddenRowID, plan.HiddenRowSeq:
		own := lake.Field{ID: sl.FieldID, Name: sl.Name, Type: sl.Type, Iceberg: "long"}
		spec, err := r.spec(&own, f.footer.Root)
		if err != nil || spec != nil && spec.Kind == parquet.Value {
			return fileColumn{spec: spec}, err
		}
		if file.FirstRowID == nil { // written before row lineage: neither is known
			return fileColumn{known: true, konst: types.Null}, nil
		}
		if sl.FieldID == plan.HiddenRowSeq {
			return fileColumn{known: true, konst: types.NewInt(file.DataSeq)}, nil
		}
	}
	return fileColumn{}, nil
}

// pruneTo is field with only the members on the path to one inner field.
func pruneTo(f *lake.Field, path []int) *lake.Field {
	g := *f
	if len(path) == 0 {
		return &g
	}
	for i := range f.Children {
		if f.Children[i].ID == path[0] {
			c := pruneTo(&f.Children[i], path[1:])
			c.Required = false
			g.Children = []lake.Field{*c}
			g.Type = types.StructOf(types.Field{Name: c.Name, Type: c.Type})
		}
	}
	return &g
}
