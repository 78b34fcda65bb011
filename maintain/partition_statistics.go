package maintain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lhsql/lhsql/dml/parquet"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/scan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// This file counts the files and records of each partition into a file that the table's metadata names
// (spec, "Partition Statistics").

// PartitionStatisticsPlan is how the partitions of a snapshot will be counted.
type PartitionStatisticsPlan struct {
	g     Target
	env   RewriteEnv
	snap  *lake.Snapshot
	Base  *lake.StatisticsFile // what is gone on from; nil: everything is counted
	steps []partitionStep
	// Manifests are those that will be read.
	Manifests     int
	ManifestBytes int64
}

// partitionStep is manifests of which the entries of one snapshot count, or all that are live.
type partitionStep struct {
	manifests []*lake.Manifest
	only      *lake.Snapshot // nil: all that are live
}

// PlanPartitionStatistics decides what has to be read: the manifests that snapshots have added since the
// newest statistics of one that snap comes from, or all of snap's.
func PlanPartitionStatistics(ctx context.Context, g Target, env RewriteEnv, snap *lake.Snapshot) (*PartitionStatisticsPlan, error) {
	if len(g.Table.PartitionType()) == 0 {
		return nil, sqlerr.New(sqlerr.ObjectNotInPrerequisite, "table %s has no partitions", g.Table.Name.Table)
	}
	p := &PartitionStatisticsPlan{g: g, env: env, snap: snap}
	of := map[int64]*lake.StatisticsFile{}
	files := g.Table.PartitionStatistics()
	for i := range files {
		of[files[i].SnapshotID] = &files[i]
	}
	if err := p.whole(ctx); err != nil {
		return nil, err
	}
	line := g.Table.Ancestors(snap)
	k := slices.IndexFunc(line, func(s *lake.Snapshot) bool { return of[s.ID] != nil })
	if k < 0 || k > p.Manifests { // so many manifest lists take longer than what the newest one lists
		return p, nil
	}
	more := PartitionStatisticsPlan{Base: of[line[k].ID]}
	for _, s := range line[:k] {
		ms, err := g.Table.Manifests(ctx, s)
		if err != nil {
			return nil, err
		}
		step := partitionStep{only: s}
		for _, m := range ms {
			if m.AddedSnapshotID == s.ID {
				step.manifests = append(step.manifests, m)
			}
		}
		more.steps = append(more.steps, step)
	}
	if more.sum(); more.ManifestBytes <= p.ManifestBytes {
		p.Base, p.steps, p.Manifests, p.ManifestBytes = more.Base, more.steps, more.Manifests, more.ManifestBytes
	}
	return p, nil
}

// whole plans to read all that the snapshot holds.
func (p *PartitionStatisticsPlan) whole(ctx context.Context) error {
	ms, err := p.g.Table.Manifests(ctx, p.snap)
	p.Base, p.steps = nil, []partitionStep{{manifests: ms}}
	p.sum()
	return err
}

func (p *PartitionStatisticsPlan) sum() {
	p.Manifests, p.ManifestBytes = 0, 0
	for _, s := range p.steps {
		for _, m := range s.manifests {
			p.Manifests++
			p.ManifestBytes += m.Length
		}
	}
}

// Run counts, and names the file as the partition statistics of the snapshot. Where the snapshot has such
// a file already, and it is right, that stays. It gives the file's path.
func (p *PartitionStatisticsPlan) Run(ctx context.Context, statement string) (string, error) {
	held := partitionMemory{env: p.env}
	defer held.free()
	p.g.Job.Phase("count")
	t := p.g.Table
	tally, err := p.count(ctx, &held)
	if err == nil && p.Base != nil {
		// Statistics that do not fit what the manifest list says are not gone on from, whoever wrote them.
		var fits bool
		if fits, err = p.fits(ctx, tally); err == nil && !fits {
			err = errNotThat
		}
	}
	if p.Base != nil && err != nil && ctx.Err() == nil && sqlerr.CodeOf(err) != sqlerr.OutOfMemory {
		held.free()
		if err = p.whole(ctx); err == nil {
			tally, err = p.count(ctx, &held)
		}
	}
	if err != nil {
		return "", err
	}
	if p.Base != nil && p.Base.SnapshotID == p.snap.ID {
		return p.Base.Path, nil
	}
	tally.Sort()
	p.g.Job.Phase("write")
	f := lake.StatisticsFile{SnapshotID: p.snap.ID, Path: t.PartitionStatisticsPath(p.snap.ID)}
	if f.Size, err = writePartitions(ctx, t, tally, f.Path); err != nil {
		return "", err
	}
	p.g.Job.Phase("commit")
	_, err = p.g.commit(ctx, lake.Change{Base: t, Statement: statement, Edit: func(e *lake.Edit) error {
		if e.Table().SnapshotByID(p.snap.ID) == nil {
			return sqlerr.New(sqlerr.SerializationFailure, "snapshot %d was expired meanwhile", p.snap.ID)
		}
		return e.SetPartitionStatistics(f)
	}})
	if err != nil && lake.Outcome(err) != lake.Unknown {
		_ = t.FS().Remove(context.WithoutCancel(ctx), t.Resolve(f.Path)) // what stays is an orphan
	}
	return f.Path, err
}

// errNotThat: the statistics that were to be gone on from are not what the table holds.
var errNotThat = errors.New("partition statistics are not those of their snapshot")

// count reads the base and the manifests.
func (p *PartitionStatisticsPlan) count(ctx context.Context, held *partitionMemory) (*lake.PartitionTally, error) {
	t := p.g.Table
	tally := lake.NewPartitionTally(t)
	if p.Base != nil {
		if err := readPartitions(ctx, t, p.Base, p.env.Exec.Scan, tally, held); err != nil {
			return nil, err
		}
	}
	p.g.Job.Plan(int64(p.Manifests), p.ManifestBytes)
	for i := len(p.steps) - 1; i >= 0; i-- { // oldest first
		for _, m := range p.steps[i].manifests {
			es, err := t.EntriesWith(ctx, m, nil)
			if err != nil {
				return nil, err
			}
			for k := range es {
				if err := p.entry(tally, &es[k], p.steps[i].only, held); err != nil {
					return nil, err
				}
			}
			p.g.Job.Done(1, m.Length)
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
	}
	return tally, nil
}

func (p *PartitionStatisticsPlan) entry(tally *lake.PartitionTally, e *lake.Entry, only *lake.Snapshot, held *partitionMemory) error {
	times := int64(1)
	if only != nil {
		if e.SnapshotID != only.ID || e.Status == lake.Existing {
			return nil
		}
		if e.Status == lake.Deleted {
			times = -1
		}
	} else if e.Status == lake.Deleted {
		times = 0 // it tells who changed the partition
	}
	c, fresh := tally.Of(e.File.SpecID, tally.Value(e.File.SpecID, e.File.Partition))
	if fresh {
		if err := held.one(c); err != nil {
			return err
		}
	}
	if times != 0 {
		c.Add(e.File, times)
	}
	c.ChangedBy(p.g.Table.SnapshotByID(e.SnapshotID))
	return nil
}

// fits tells whether the counts add up to those of the snapshot's manifests, as far as its list tells.
func (p *PartitionStatisticsPlan) fits(ctx context.Context, tally *lake.PartitionTally) (bool, error) {
	ms, err := p.g.Table.Manifests(ctx, p.snap)
	if err != nil {
		return false, err
	}
	var want, got [2]struct{ files, rows int64 }
	for _, m := range ms {
		if min(m.AddedFiles, m.ExistingFiles, m.AddedRows, m.ExistingRows) < 0 {
			return false, nil // format 1 need not say
		}
		w := &want[0]
		if m.Deletes {
			w = &want[1]
		}
		w.files += m.AddedFiles + m.ExistingFiles
		w.rows += m.AddedRows + m.ExistingRows
	}
	for _, c := range tally.List() {
		if min(c.Records, c.Files, c.Bytes, c.PositionDeletes, c.PositionDeleteFiles, c.Vectors, c.EqualityDeletes, c.EqualityDeleteFiles) < 0 ||
			c.Files == 0 && c.Records+c.Bytes != 0 {
			return false, nil
		}
		got[0].files += c.Files
		got[0].rows += c.Records
		got[1].files += c.PositionDeleteFiles + c.Vectors + c.EqualityDeleteFiles
		got[1].rows += c.PositionDeletes + c.EqualityDeletes
	}
	return got == want, nil
}

// partitionFileFields are the file's columns (spec, "Partition Statistics File"). Vectors are counted apart
// since format 3, which also requires the counts of deletes.
func partitionFileFields(t *lake.Table) []lake.Field {
	part := lake.Field{ID: 1, Name: "partition", Iceberg: "struct", Required: true}
	var members []types.Field
	for _, f := range t.PartitionType() {
		part.Children = append(part.Children, lake.Field{ID: f.FieldID, Name: f.Name, Type: f.Type, Iceberg: f.Iceberg})
		members = append(members, types.Field{Name: f.Name, Type: f.Type})
	}
	part.Type = types.StructOf(members...)
	number := func(id int, name, iceberg string, required bool) lake.Field {
		return lake.Field{ID: id, Name: name, Iceberg: iceberg, Type: lake.TypeOf(iceberg), Required: required}
	}
	v3 := t.FormatVersion() >= 3
	out := []lake.Field{part,
		number(2, "spec_id", "int", true),
		number(3, "data_record_count", "long", true),
		number(4, "data_file_count", "int", true),
		number(5, "total_data_file_size_in_bytes", "long", true),
		number(6, "position_delete_record_count", "long", v3),
		number(7, "position_delete_file_count", "int", v3),
		number(8, "equality_delete_record_count", "long", v3),
		number(9, "equality_delete_file_count", "int", v3),
		// Not computed: it would take reading the deletes, and who goes on from these statistics without
		// doing so would make it wrong.
		number(10, "total_record_count", "long", false),
		number(11, "last_updated_at", "long", false),
		number(12, "last_updated_snapshot_id", "long", false),
	}
	if v3 {
		out = append(out, number(13, "dv_count", "int", true))
	}
	return out
}

// numbers are the counts in the order of partitionFileFields, from data_record_count to dv_count.
func numbers(c *lake.PartitionCounts, total, at, by types.Datum) []types.Datum {
	n := types.NewInt
	return []types.Datum{n(c.Records), n(c.Files), n(c.Bytes), n(c.PositionDeletes), n(c.PositionDeleteFiles), n(c.EqualityDeletes),
		n(c.EqualityDeleteFiles), total, at, by, n(c.Vectors)}
}

// writePartitions writes the file and gives its size.
func writePartitions(ctx context.Context, t *lake.Table, tally *lake.PartitionTally, path string) (int64, error) {
	fields := partitionFileFields(t)
	out, err := t.FS().CreateStream(ctx, t.Resolve(path))
	if err != nil {
		return 0, sqlerr.Wrap(err, sqlerr.IOError, "creating partition statistics %s", path)
	}
	fail := func(err error) (int64, error) {
		out.Abort()
		return 0, sqlerr.Wrap(err, sqlerr.IOError, "writing partition statistics %s", path)
	}
	w, err := parquet.NewWriter(out, fields, parquet.Options{})
	if err != nil {
		return fail(err)
	}
	cols := make([]*vec.Appender, len(fields))
	for i := range fields {
		cols[i] = vec.NewAppender(fields[i].Type)
	}
	flush := func() error {
		n := cols[0].Len()
		if n == 0 {
			return nil
		}
		b := &vec.Batch{Rows: n}
		for _, c := range cols {
			b.Cols = append(b.Cols, c.Vector())
		}
		err := w.Write(b)
		for _, c := range cols {
			c.Reset()
		}
		return errors.Join(err, ctx.Err())
	}
	for _, c := range tally.List() {
		if c.Empty() {
			continue // nothing is left of it
		}
		at, by := types.Null, types.Null
		if c.UpdatedBy != 0 {
			at, by = types.NewInt(c.UpdatedAt), types.NewInt(c.UpdatedBy)
		}
		cols[0].AppendDatum(types.NewStruct(c.Partition))
		cols[1].AppendDatum(types.NewInt(int64(c.SpecID)))
		for i, d := range numbers(c, types.Null, at, by)[:len(cols)-2] {
			cols[i+2].AppendDatum(d)
		}
		if cols[0].Len() == vec.BatchRows {
			if err := flush(); err != nil {
				return fail(err)
			}
		}
	}
	if err := flush(); err != nil {
		return fail(err)
	}
	d, err := w.Close()
	if err == nil {
		err = out.Commit(ctx)
	}
	if err != nil {
		return fail(err)
	}
	return d.FileSize, nil
}

// readPartitions adds what a file of partition statistics says.
func readPartitions(ctx context.Context, t *lake.Table, f *lake.StatisticsFile, env scan.Env, tally *lake.PartitionTally, held *partitionMemory) error {
	fields := partitionFileFields(t)
	if len(fields) == 12 { // the table may have been of format 3 for the one who wrote it
		fields = append(fields, lake.Field{ID: 13, Name: "dv_count", Iceberg: "int", Type: lake.TypeOf("int")})
	}
	return scan.ReadFile(ctx, t, f.Path, f.Size, fields, env, func(cols []*vec.Vector, rows int) error {
		for i := range rows {
			var n [13]int64
			for k := 1; k < len(cols); k++ {
				switch {
				case cols[k] != nil && !cols[k].Null(i):
					n[k] = cols[k].Datum(i).Int()
				case k < 5:
					return sqlerr.New(sqlerr.DataCorrupted, "partition statistics lack %s", fields[k].Name)
				}
			}
			if cols[0] == nil || cols[0].Null(i) || n[1] < 0 || n[1] > math.MaxInt32 || t.Spec(int(n[1])) == nil {
				return sqlerr.New(sqlerr.DataCorrupted, "partition statistics tell of no partition of the table's")
			}
			partition := cols[0].Datum(i).List()
			c, fresh := tally.Of(int(n[1]), partition)
			if !fresh {
				return sqlerr.New(sqlerr.DataCorrupted, "partition statistics tell of a partition twice: %s", fmt.Sprint(partition))
			}
			if err := held.one(c); err != nil {
				return err
			}
			c.Records, c.Files, c.Bytes = n[2], n[3], n[4]
			c.PositionDeletes, c.PositionDeleteFiles, c.EqualityDeletes, c.EqualityDeleteFiles = n[5], n[6], n[7], n[8]
			c.UpdatedAt, c.UpdatedBy, c.Vectors = n[10], n[11], n[12]
		}
		return nil
	})
}

// partitionMemory charges what is held of partitions to the statement.
type partitionMemory struct {
	env     RewriteEnv
	charged int64
}

func (m *partitionMemory) one(c *lake.PartitionCounts) error {
	n := int64(256)
	for _, d := range c.Partition {
		n += 48
		if d.Form() == types.FormStr {
			n += 2 * int64(len(d.Str()))
		}
	}
	if err := m.env.Exec.Account.Grow(n); err != nil {
		return err
	}
	m.charged += n
	return nil
}

func (m *partitionMemory) free() {
	if m.charged > 0 {
		m.env.Exec.Account.Shrink(m.charged)
	}
	m.charged = 0
}
