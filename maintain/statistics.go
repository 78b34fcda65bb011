package maintain

import (
	"context"
	"errors"
	"math"
	"strconv"

	"github.com/lhsql/lhsql/dml"
	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/internal/theta"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/vec"
)

// StatisticsPlan is how the values of a snapshot's columns will be counted.
type StatisticsPlan struct {
	g      Target
	env    RewriteEnv
	snap   *lake.Snapshot
	fields []*lake.Field
	node   plan.Node
	Files  int // that will be read, and their bytes
	Bytes  int64
}

// PlanStatistics decides what has to be read to count the values of columns of a snapshot. Columns are those
// of the snapshot's schema; none: all that the format can count.
func PlanStatistics(ctx context.Context, g Target, env RewriteEnv, snap *lake.Snapshot, columns []string) (*StatisticsPlan, error) {
	p := &StatisticsPlan{g: g, env: env, snap: snap}
	schema := g.Table.SnapshotSchema(snap)
	var err error
	if p.fields, err = countable(schema, columns); err != nil {
		return nil, err
	}
	scan := &plan.Scan{Table: g.Table, Snapshot: snap, Schema: schema, Alias: g.Table.Name.Table}
	for i, f := range p.fields {
		scan.Cols = append(scan.Cols, plan.ScanColumn{Column: plan.Column{ID: plan.ColID(i + 1), Name: f.Name, Type: f.Type}, FieldID: f.ID})
	}
	if p.node, err = planner.Plan(env.Planner(ctx), scan); err != nil {
		return nil, err
	}
	plan.Walk(p.node, func(n plan.Node) {
		if s, ok := n.(*plan.Scan); ok {
			for i := range s.Tasks {
				p.Files++
				p.Bytes += s.Tasks[i].File.FileSize
			}
		}
	})
	return p, nil
}

// Columns are the names of those that are counted.
func (p *StatisticsPlan) Columns() []string {
	out := make([]string, len(p.fields))
	for i, f := range p.fields {
		out[i] = f.Name
	}
	return out
}

// Run counts, about, the different values of the columns by a theta sketch each, and names the file that
// holds the sketches as the statistics of the snapshot. What earlier statistics of the same snapshot say
// of other columns is not kept. It gives the file's path.
func (p *StatisticsPlan) Run(ctx context.Context, statement string) (string, error) {
	g, t, snap, fields := p.g, p.g.Table, p.snap, p.fields
	g.Job.Phase("count")
	sketches, err := p.count(ctx)
	if err != nil {
		return "", err
	}
	var file dml.Puffin
	stats := lake.StatisticsFile{SnapshotID: snap.ID}
	for i, f := range fields {
		b := lake.StatisticsBlob{Type: lake.ThetaBlob, SnapshotID: snap.ID, Seq: snap.Seq, Fields: []int{f.ID},
			Properties: map[string]string{"ndv": strconv.FormatInt(int64(math.Round(sketches[i].Estimate())), 10)}}
		file.Add(dml.PuffinBlob{Type: b.Type, Fields: b.Fields, SnapshotID: b.SnapshotID, Seq: b.Seq, Properties: b.Properties}, sketches[i].Append(nil))
		stats.Blobs = append(stats.Blobs, b)
	}
	data, footer := file.Close()
	stats.Size, stats.FooterSize = int64(len(data)), footer
	stats.Path = t.StatisticsPath(snap.ID)
	if err := t.FS().Create(ctx, t.Resolve(stats.Path), data); err != nil {
		return "", err
	}
	g.Job.Phase("commit")
	_, err = g.commit(ctx, lake.Change{Base: t, Statement: statement, Edit: func(e *lake.Edit) error {
		if e.Table().SnapshotByID(snap.ID) == nil {
			return sqlerr.New(sqlerr.SerializationFailure, "snapshot %d was expired meanwhile", snap.ID)
		}
		return e.SetStatistics(stats)
	}})
	if err != nil && lake.Outcome(err) != lake.Unknown {
		_ = t.FS().Remove(context.WithoutCancel(ctx), t.Resolve(stats.Path)) // what stays is an orphan
	}
	return stats.Path, err
}

// DropStatistics forgets the statistics of all snapshots. The files stay for whoever reads them now: they
// are orphans.
func DropStatistics(ctx context.Context, g Target, statement string) (int, error) {
	n := 0
	if len(g.Table.Statistics()) == 0 {
		return 0, nil
	}
	_, err := g.commit(ctx, lake.Change{Base: g.Table, Statement: statement, Edit: func(e *lake.Edit) error {
		n = 0
		for _, f := range e.Table().Statistics() {
			if err := e.RemoveStatistics(f.SnapshotID, false); err != nil {
				return err
			}
			n++
		}
		return nil
	}})
	return n, err
}

// countable are the columns that are asked for, or all whose values the format can spell as bytes.
func countable(s *lake.Schema, columns []string) ([]*lake.Field, error) {
	var out []*lake.Field
	if len(columns) == 0 {
		for i := range s.Fields {
			if lake.HasBounds(&s.Fields[i]) {
				out = append(out, &s.Fields[i])
			}
		}
		return out, nil
	}
	for _, name := range columns {
		var found *lake.Field
		for i := range s.Fields {
			if s.Fields[i].Name == name {
				found = &s.Fields[i]
			}
		}
		switch {
		case found == nil:
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", name)
		case !lake.HasBounds(found):
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "values of column %q cannot be counted: its type is %s", name, found.Iceberg)
		}
		out = append(out, found)
	}
	return out, nil
}

// count reads the fields of a snapshot's rows into a sketch each.
func (p *StatisticsPlan) count(ctx context.Context) ([]theta.Sketch, error) {
	fields, job := p.fields, p.g.Job
	job.Plan(int64(p.Files), p.Bytes)
	x := *p.env.Exec
	x.Scan.Done = func(f *lake.DataFile) { job.Done(1, f.FileSize) }
	src, err := exec.Build(p.node, &x)
	if err != nil {
		return nil, err
	}
	out := make([]counter, len(fields))
	for i, f := range fields {
		out[i].iceberg = f.Iceberg
	}
	for {
		b, err := src.Next(ctx)
		if err == nil && b == nil {
			break
		}
		if err != nil {
			return nil, errors.Join(err, src.Close())
		}
		for i := range out {
			out[i].see(b, b.Cols[i])
		}
	}
	sketches := make([]theta.Sketch, len(out))
	for i := range out {
		sketches[i] = out[i].sketch
	}
	return sketches, src.Close()
}

// counter sees a column's values in their single-value serialisation.
type counter struct {
	iceberg string
	sketch  theta.Sketch
	dict    uint64 // of the dictionary whose codes were seen
	codes   vec.Bitmap
	buf     []byte
}

func (c *counter) see(b *vec.Batch, v *vec.Vector) {
	if v.Enc == vec.Dict && (c.dict != v.Dictionary.DictID || c.dict == 0) {
		c.dict = v.Dictionary.DictID
		c.codes = c.codes[:0]
	}
	row := func(i int) {
		if v.Null(i) {
			return
		}
		if v.Enc == vec.Dict { // each value of a dictionary is seen once
			code := int(v.Codes[i])
			for len(c.codes) <= code>>6 {
				c.codes = append(c.codes, 0)
			}
			if c.codes.Get(code) {
				return
			}
			c.codes.Set(code)
		}
		c.sketch.Update(c.bytes(v, i))
	}
	switch {
	case b.Sel != nil:
		for _, i := range b.Sel {
			row(int(i))
		}
	case v.Enc == vec.Const && b.Rows > 0:
		row(0)
	default:
		for i := range b.Rows {
			row(i)
		}
	}
}

// bytes are row i's value as the format writes it.
func (c *counter) bytes(v *vec.Vector, i int) []byte {
	switch c.iceberg {
	case "string", "binary":
		return v.Bytes(i)
	}
	c.buf = lake.AppendBound(c.buf[:0], v.Datum(i), c.iceberg)
	return c.buf
}
