package maintain

// This file makes Parquet files that lie somewhere the data files of a table, as they are and where
// they are.

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/lhsql/lhsql/dml"
	"github.com/lhsql/lhsql/dml/parquet"
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/guard"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/lake/store"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/scan"
	"github.com/lhsql/lhsql/types"
)

// AddFiles says which files are to become a table's.
type AddFiles struct {
	Source    string            // a file, or a folder with all that lies below it
	Partition map[string]string // only files of these partitions, by column; empty: all
	Branch    string            // "": main
	Duplicate bool              // a file that the table has already is not refused: its rows are there twice
	Parallel  int               // footers read at a time; 0: some
	DryRun    bool
	Mem       scan.Memory // charged for footers; nil: a limit of its own
}

// AddedFiles is what was added, or would be.
type AddedFiles struct {
	Files, Rows, Bytes int64
	Groups             []AddedGroup // by partition, as they came
}

// AddedGroup is the files of a partition.
type AddedGroup struct {
	Partition string // as a person reads it; "" for none
	Files     int
	Bytes     int64
}

// footersAtATime is how many footers are read at a time where the caller does not say.
const footersAtATime = 8

// AddParquetFiles registers the files of a folder as data files of the table, in one commit. Nothing is
// copied, and no row is read: what the commit says of a file is what its footer says.
func AddParquetFiles(ctx context.Context, g Target, a AddFiles) (AddedFiles, error) {
	for try := 1; ; try++ {
		t, err := g.reload(ctx)
		if err != nil {
			return AddedFiles{}, err
		}
		p, err := planAdd(ctx, g, t, a)
		if err != nil || len(p.add) == 0 || a.DryRun {
			return p.result(), err
		}
		g.Job.Phase("commit")
		_, err = g.commit(ctx, p.change())
		if err == nil || sqlerr.CodeOf(err) != sqlerr.SerializationFailure || try == planAgain {
			return p.result(), err
		}
	}
}

// addition is what one try adds.
type addition struct {
	AddFiles
	t       *lake.Table
	snap    *lake.Snapshot
	mapping []lake.MappedField
	names   bool // a file has no field ids: the table needs a name mapping
	metrics func(id int) parquet.Metrics
	add     []*lake.DataFile
}

func (p *addition) result() AddedFiles {
	if p == nil {
		return AddedFiles{}
	}
	r := AddedFiles{Files: int64(len(p.add))}
	at := map[string]int{}
	for _, f := range p.add {
		key := planner.PartitionKey(f)
		i, known := at[key]
		if !known {
			i = len(r.Groups)
			at[key] = i
			r.Groups = append(r.Groups, AddedGroup{Partition: partitionText(p.t.Spec(f.SpecID), f.Partition)})
		}
		r.Groups[i].Files++
		r.Groups[i].Bytes += f.FileSize
		r.Rows += f.RecordCount
		r.Bytes += f.FileSize
	}
	return r
}

func planAdd(ctx context.Context, g Target, t *lake.Table, a AddFiles) (*addition, error) {
	p := &addition{AddFiles: a, t: t, mapping: t.NameMapping()}
	var err error
	if p.snap, err = t.Head(a.Branch); err != nil {
		return nil, err
	}
	if err := p.takes(); err != nil {
		return nil, err
	}
	if p.metrics, err = dml.MetricsOf(t, t.Schema()); err != nil {
		return nil, err
	}
	g.Job.Phase("list")
	files, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	if !a.Duplicate {
		if err := p.unknown(ctx, files); err != nil {
			return nil, err
		}
	}
	g.Job.Phase("read footers")
	g.Job.Plan(int64(len(files)), 0)
	return p, p.describe(ctx, g, files)
}

// takes refuses tables of whose rules footers cannot tell that the rows obey them.
func (p *addition) takes() error {
	for _, f := range p.t.Schema().Fields {
		if bad := f.Unreadable(); bad != "" {
			return sqlerr.New(sqlerr.FeatureNotSupported, "column %q has the Iceberg type %s, which is not supported", f.Name, bad)
		}
	}
	if checks := p.t.Checks(); len(checks) > 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "files cannot be added to table %s, which has the check constraint %q: their rows are not read", p.t.Name.Table, checks[0].Name).
			WithHint("Drop the constraint, add the files, and add it again, which tests all rows.")
	}
	if keys := lake.Enforced(p.t.Keys()); len(keys) > 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "files cannot be added to table %s, which has the constraint %q: their rows are not read", p.t.Name.Table, keys[0].Name).
			WithHint("Drop the constraint, add the files, and add it again, which tests all rows.")
	}
	for _, k := range p.t.ForeignKeys() {
		if !k.NotEnforced {
			return sqlerr.New(sqlerr.FeatureNotSupported, "files cannot be added to table %s, which has the constraint %q: their rows are not read", p.t.Name.Table, k.Name).
				WithHint("Drop the constraint, add the files, and add it again, which tests all rows.")
		}
	}
	for _, f := range p.t.DefaultSpec().Fields {
		if f.Transform.Kind != lake.Identity && f.Transform.Kind != lake.Void {
			return sqlerr.New(sqlerr.FeatureNotSupported, "files cannot be added to table %s: its partition field %q has the transform %s, and folders name values as they are", p.t.Name.Table, f.Name, f.Transform)
		}
	}
	for k := range p.Partition {
		if i, _ := p.field(k); i < 0 {
			return sqlerr.New(sqlerr.InvalidParameterValue, "partition_filter names %q, by which table %s is not partitioned", k, p.t.Name.Table)
		}
	}
	if p.mapping == nil {
		if p.t.Properties()["schema.name-mapping.default"] != "" {
			return sqlerr.New(sqlerr.InvalidParameterValue, "the table property schema.name-mapping.default maps no name")
		}
		p.mapping = lake.MappingOf(p.t.Schema())
	}
	return nil
}

// field finds the partition field whose source column a folder names: exactly, else in another case,
// since Hive folds names.
func (p *addition) field(column string) (int, *lake.Field) {
	at, found := -1, (*lake.Field)(nil)
	for i, f := range p.t.DefaultSpec().Fields {
		if f.Transform.Kind != lake.Identity || len(f.SourceIDs) != 1 {
			continue
		}
		src, path := p.t.Schema().ByID(f.SourceIDs[0])
		if src == nil || len(path) != 1 && f.Name != column {
			continue
		}
		if src.Name == column || f.Name == column {
			return i, src
		}
		if strings.EqualFold(src.Name, column) {
			at, found = i, src
		}
	}
	return at, found
}

// source is a file that is to be added.
type source struct {
	path   string            // as it lies
	size   int64             // bytes
	part   []types.Datum     // of the table's partition fields
	folder map[string]string // the values that its folders name
}

// list finds the files. The table's store refuses places that the catalog may not use.
func (p *addition) list(ctx context.Context) ([]source, error) {
	root := store.Canonical(p.Source)
	files := p.t.FS()
	var out []source
	seen := 0
	take := func(path string, size int64) error {
		seen++
		s := source{path: path, size: size, folder: map[string]string{}}
		ok, err := p.place(&s)
		if ok && err == nil {
			out = append(out, s)
		}
		return err
	}
	file, err := files.Open(ctx, root, -1)
	switch {
	case err == nil:
		defer file.Close()
		err = take(root, file.Size())
	case sqlerr.CodeOf(err) == sqlerr.InsufficientPrivilege:
		return nil, err
	default: // a folder, or nothing
		err = files.List(ctx, root, func(o store.Object) error {
			if below, _ := strings.CutPrefix(o.Path, root); o.Partial || hidden(below) || folderMark(o.Path) {
				return nil
			}
			return take(o.Path, o.Size)
		})
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, sqlerr.New(sqlerr.UndefinedFile, "there is no file or folder %s", p.Source)
	case err != nil:
		if _, ok := sqlerr.As(err); ok || ctx.Err() != nil {
			return nil, err
		}
		return nil, sqlerr.Wrap(err, sqlerr.IOError, "list %s", p.Source)
	case len(out) == 0 && len(p.Partition) > 0:
		return nil, sqlerr.New(sqlerr.UndefinedFile, "no file below %s is of the partition that partition_filter names", p.Source)
	case seen == 0:
		return nil, sqlerr.New(sqlerr.UndefinedFile, "there are no files in %s", p.Source)
	}
	slices.SortFunc(out, func(a, b source) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

// hidden tells of a path below a folder whether one of its names is hidden, as Spark and Hive have it: by
// "." or "_" at its beginning, unless it names a partition.
func hidden(below string) bool {
	for _, name := range strings.Split(below, "/") {
		if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") && !strings.Contains(name, "=") {
			return true
		}
	}
	return false
}

// folderMark tells of objects that stand for a folder in an object store.
func folderMark(path string) bool {
	return strings.HasSuffix(path, "/") || strings.HasSuffix(path, "_$folder$")
}

// hiveNull is what Hive calls the folder of NULL.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// place reads a file's partition from the names of its folders; ok tells whether it is one that is wanted.
func (p *addition) place(s *source) (ok bool, err error) {
	names := strings.Split(s.path, "/")
	for _, name := range names[:len(names)-1] {
		k, v, is := strings.Cut(name, "=")
		if !is || k == "" {
			continue
		}
		k, v = unescaped(k), unescaped(v)
		if was, twice := s.folder[k]; twice && was != v {
			return false, sqlerr.New(sqlerr.InvalidParameterValue, "the folders of file %s name two values for %q", s.path, k)
		}
		s.folder[k] = v
	}
	spec := p.t.DefaultSpec()
	s.part = make([]types.Datum, len(spec.Fields))
	named := make([]bool, len(spec.Fields))
	for k, v := range s.folder {
		i, f := p.field(k)
		if i < 0 {
			continue
		}
		if s.part[i], err = partitionValue(f, v); err != nil {
			return false, sqlerr.New(sqlerr.CodeOf(err), "the folder %s=%s of file %s names no %s: %v", k, v, s.path, f.Type, err)
		}
		named[i] = true
	}
	for i := range spec.Fields {
		if f := &spec.Fields[i]; f.Transform.Kind == lake.Identity && !named[i] {
			return false, sqlerr.New(sqlerr.InvalidParameterValue, "no folder of file %s names its partition: table %s is partitioned by %q", s.path, p.t.Name.Table, f.Name).
				WithHint("Files of a partitioned table lie in folders like %s=value.", f.Name)
		}
	}
	for k, v := range p.Partition {
		i, f := p.field(k)
		want, err := partitionValue(f, v)
		if err != nil {
			return false, err
		}
		if !sameValue(want, s.part[i], f) {
			return false, nil
		}
	}
	return true, nil
}

// unescaped is a folder's name as it was before Hive escaped it. A percent sign that begins no escape
// stands for itself.
func unescaped(s string) string {
	if t, err := url.PathUnescape(s); err == nil {
		return t
	}
	return s
}

// partitionValue is the value of a column that a folder's name spells, in the type that is stored.
func partitionValue(f *lake.Field, text string) (types.Datum, error) {
	if text == hiveNull {
		if f.Required {
			return types.Null, sqlerr.New(sqlerr.NotNullViolation, "column %q cannot be NULL", f.Name)
		}
		return types.Null, nil
	}
	t := f.Type
	if eval.Decodes(t) {
		t = lake.TypeOf(f.Iceberg)
	}
	return types.Parse(text, t, nil)
}

func sameValue(a, b types.Datum, f *lake.Field) bool {
	if a.IsNull() || b.IsNull() {
		return a.IsNull() && b.IsNull()
	}
	return types.Compare(a, b, lake.TypeOf(f.Iceberg)) == 0
}

// unknown refuses files that the branch has.
func (p *addition) unknown(ctx context.Context, files []source) error {
	if p.snap == nil {
		return nil
	}
	want := map[string]bool{}
	for i := range files {
		want[files[i].path] = true
	}
	manifests, err := p.t.Manifests(ctx, p.snap)
	if err != nil {
		return err
	}
	for _, m := range manifests {
		if m.Deletes {
			continue
		}
		entries, err := p.t.EntriesWith(ctx, m, nil)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Status != lake.Deleted && want[p.t.Resolve(e.File.Path)] {
				return sqlerr.New(sqlerr.DuplicateFile, "table %s has the file %s already", p.t.Name.Table, e.File.Path).
					WithHint("check_duplicate_files => false adds its rows a second time.")
			}
		}
	}
	return nil
}

// describe reads the footers, some at a time, and makes the data files. Files without rows are left out.
func (p *addition) describe(ctx context.Context, g Target, files []source) error {
	at := p.Parallel
	if at <= 0 {
		at = footersAtATime
	}
	at = min(at, len(files))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := make([]*lake.DataFile, len(files))
	ids := make([]bool, len(files))
	errs := make([]error, len(files))
	next := make(chan int)
	var wg sync.WaitGroup
	for range at {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				errs[i] = guard.Run(func() (err error) {
					out[i], ids[i], err = p.file(ctx, &files[i])
					return err
				})
				if errs[i] != nil {
					cancel(errs[i])
				}
				g.Job.Done(1, 0)
			}
		}()
	}
	for i := range files {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		// The first file in order that failed for itself, and not because another did.
		for _, e := range errs {
			if e != nil && !errors.Is(e, context.Canceled) {
				return e
			}
		}
		return err
	}
	for i, f := range out {
		if f.RecordCount == 0 {
			continue
		}
		p.names = p.names || !ids[i]
		p.add = append(p.add, f)
	}
	return nil
}

// file makes the manifest entry of a file.
func (p *addition) file(ctx context.Context, s *source) (*lake.DataFile, bool, error) {
	f, err := p.t.FS().Open(ctx, s.path, s.size)
	if err != nil {
		return nil, false, sqlerr.Wrap(err, sqlerr.IOError, "open %s", s.path)
	}
	defer f.Close()
	spec := p.t.DefaultSpec()
	values := map[int]types.Datum{}
	for i := range spec.Fields {
		if spec.Fields[i].Transform.Kind == lake.Identity {
			values[spec.Fields[i].SourceIDs[0]] = s.part[i]
		}
	}
	d, err := scan.Describe(ctx, f, s.path, p.Mem, p.t, p.mapping, func(id int) bool { _, ok := values[id]; return ok })
	if err != nil {
		return nil, false, err
	}
	if err := p.agree(s, d, values); err != nil {
		return nil, false, err
	}
	out := &lake.DataFile{Path: p.spelled(s.path), Format: "parquet", SpecID: spec.ID, Partition: s.part, RecordCount: d.Rows, FileSize: d.Size, SplitOffsets: d.SplitOffsets,
		ColumnSizes: map[int]int64{}, ValueCounts: map[int]int64{}, NullCounts: map[int]int64{}, NaNCounts: map[int]int64{}, Lower: map[int][]byte{}, Upper: map[int][]byte{}}
	for i := range d.Columns {
		c := &d.Columns[i]
		out.ColumnSizes[c.Field.ID] = c.Compressed
		p.metrics(c.Field.ID).Note(out, c.Field, parquet.Known{Values: c.Values, Nulls: c.Nulls, Lower: c.Lower, Upper: c.Upper})
	}
	return out, d.IDs, nil
}

// agree refuses a file whose folders say of its rows what its columns do not, or what nobody would read.
func (p *addition) agree(s *source, d *scan.Description, values map[int]types.Datum) error {
	if d.Rows == 0 {
		return nil
	}
	for k, v := range s.folder {
		for i := range p.t.Schema().Fields {
			f := &p.t.Schema().Fields[i]
			_, partition := values[f.ID]
			if f.Name == k && !partition && !d.Has[f.ID] {
				return sqlerr.New(sqlerr.InvalidParameterValue, "the folder %s=%s of file %s names a value of a column that the file lacks, and table %s is not partitioned by it: it would be lost", k, v, s.path, p.t.Name.Table)
			}
		}
	}
	for id, v := range values {
		if !d.Has[id] {
			continue // readers take the partition's value
		}
		c := d.Of(id)
		ok := c != nil && v.IsNull() && c.Nulls == d.Rows ||
			c != nil && !v.IsNull() && c.Nulls == 0 && sameValue(c.Lower, v, c.Field) && sameValue(c.Upper, v, c.Field) && !c.Lower.IsNull()
		if !ok {
			f, _ := p.t.Schema().ByID(id)
			return sqlerr.New(sqlerr.InvalidParameterValue, "file %s has the partition column %q, and its statistics do not show that all its values are the folder's", s.path, f.Name)
		}
	}
	return nil
}

// spelled is a path in the way in which the table's metadata spells its own.
func (p *addition) spelled(path string) string {
	scheme, _, _ := strings.Cut(p.t.Location(), ":")
	switch rest, s3 := strings.CutPrefix(path, "s3:"); {
	case s3 && (scheme == "s3a" || scheme == "s3n"):
		return scheme + ":" + rest
	case scheme == "file" && strings.HasPrefix(path, "/"):
		return "file://" + path
	}
	return path
}

// change is the commit: an append, that loses to one that changed what it was planned by, or that added
// one of the same files.
func (p *addition) change() lake.Change {
	t := p.t
	c := lake.Change{Base: t, Snapshot: p.snap, Branch: p.Branch, Add: p.add, Operation: "append", Statement: "CALL add_files"}
	if !p.Duplicate {
		mine := map[string]bool{}
		for _, f := range p.add {
			mine[store.Canonical(f.Path)] = true
		}
		c.Kind = lake.CopyOnWrite // an append that looks at what others added
		c.Conflicts = func(f *lake.DataFile) bool { return mine[store.Canonical(f.Path)] }
	}
	c.Edit = func(e *lake.Edit) error {
		now := e.Table()
		if now.Schema().ID != t.Schema().ID || now.DefaultSpec().ID != t.DefaultSpec().ID || len(now.Checks())+len(lake.Enforced(now.Keys()))+len(now.ForeignKeys()) > len(t.ForeignKeys()) ||
			now.Properties()["schema.name-mapping.default"] != t.Properties()["schema.name-mapping.default"] {
			return sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update: another transaction changed the table's definition")
		}
		if p.names {
			return e.SetNameMapping()
		}
		return nil
	}
	return c
}
