package planner

import (
	"fmt"
	"strings"

	"github.com/lhsql/lhsql/dml"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
)

// write says where rows go and how: what becomes of touched files, which files go unread, and how
// new rows find their partition.
func (x *explainer) write(b *box, n *plan.Write) {
	verb, _, _ := strings.Cut(n.Statement, " ")
	if verb == "" {
		verb = "Write"
	}
	verb = verb[:1] + strings.ToLower(verb[1:])
	t := n.Target.Table
	name := t.Name.Table
	if t.Name.Namespace != "" {
		name = t.Name.Namespace + "." + name
	}
	b.typ, b.head = "Write", verb+" on "+name
	if n.Target.Branch != "" && n.Target.Branch != "main" {
		b.add("Branch", n.Target.Branch)
	}
	switch {
	case n.Overwrite:
		b.add("Mode", "overwrite")
	case n.File == nil: // rows are only added
	case n.CopyOnWrite:
		b.add("Mode", "copy-on-write")
	case t.FormatVersion() >= 3:
		b.add("Mode", "merge-on-read, deletion vectors")
	default:
		b.add("Mode", "merge-on-read, position deletes")
	}
	if len(n.Drop) > 0 {
		b.add("Files Dropped Unread", len(n.Drop))
	}
	x.distribution(b, n)
}

// distribution says how rows are brought to their partitions, and in which order they lie there.
func (x *explainer) distribution(b *box, n *plan.Write) {
	spec := n.Target.Table.DefaultSpec()
	if len(n.Row) == 0 || spec == nil || len(spec.Fields) == 0 {
		return
	}
	var by []string
	for _, f := range spec.Fields {
		by = append(by, partitionText(n.Target.Schema, f))
	}
	b.addText("Partition By", by, strings.Join(by, ", "))
	_, order, all := dml.Clustering(n)
	if all {
		b.add("Distribution", "by partition: all rows are gathered, one file after the other is written")
	} else {
		b.add("Distribution", fmt.Sprintf("as rows come: %d files open a writer, rows of further partitions are gathered", dml.MaxOpen))
	}
	if len(order) > 0 {
		b.add("Sorted Within Partitions", x.keys(order))
	}
}

// partitionText is a partition field as CREATE TABLE spells it.
func partitionText(s *lake.Schema, f lake.PartitionField) string {
	source := f.Name
	if len(f.SourceIDs) == 1 {
		if src, _ := s.ByID(f.SourceIDs[0]); src != nil {
			source = src.Name
		}
	}
	switch k := f.Transform.Kind; k {
	case lake.Identity:
		return source
	case lake.Bucket, lake.Truncate:
		return fmt.Sprintf("%s(%d, %s)", map[lake.TransformKind]string{lake.Bucket: "bucket", lake.Truncate: "truncate"}[k], f.Transform.Param, source)
	}
	return f.Transform.String() + "(" + source + ")"
}
