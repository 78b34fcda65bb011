package plan

import "github.com/lhsql/lhsql/lake"

// RowAction says what a row of a Write's input does to the target.
type RowAction int32

const (
	ActNothing RowAction = iota // the row is read for others' sake
	ActInsert                   // the new row is added
	ActUpdate                   // the row at the address becomes the new row
	ActDelete                   // the row at the address goes
)

// Write is a write statement lowered by dml: its input's rows say what happens to which row of
// the target. exec runs it: new rows become data files, addresses become deletes or rewritten
// files, and one commit publishes both. Its output is Returning's, made after the commit.
type Write struct {
	Target    WriteTarget
	Statement string // "INSERT", "UPDATE", …: for provenance and the command tag
	Input     Node
	// Action is an int4 RowAction over Input; nil: every row does Fixed.
	Action Expr
	Fixed  RowAction
	// File, Pos and, with row lineage, RowID address the row that ActUpdate and ActDelete act on;
	// nil for statements that only insert.
	File, Pos, RowID Expr
	// Row is the new row of ActInsert and ActUpdate, in the order of Target.Schema's fields; nil
	// for statements that only delete.
	Row []Expr
	// Changed tells which fields of a row that was there Row may give other values; nil: rows are
	// inserted, too, or it is not known.
	Changed   []bool
	Returning []Named
	// Upsert is set for INSERT … ON CONFLICT and its like.
	Upsert *Upsert
	// Once: a target row that is acted on twice is error 21000 (MERGE). Else the first action
	// counts (UPDATE … FROM, DELETE … USING).
	Once bool
	// CopyOnWrite rewrites the files that hold changed rows; else deletes are written beside them.
	CopyOnWrite bool
	Overwrite   bool // INSERT OVERWRITE
	Static      []StaticPartition
	// Rewrite: the new rows are those of data files, which the new files replace. RowSeq then is,
	// with row lineage, the sequence number of the rows' last update.
	Rewrite *Compaction
	RowSeq  Expr

	// Filled by the planner. Drop are files of which every row is deleted: they need not be read.
	Drop []FileTask
	// Conflicts tells whether a file could hold rows that the statement's read of the target
	// matches; nil: every file could.
	Conflicts func(*lake.DataFile) bool
}

// Upsert says how an insert finds the rows that are there already.
type Upsert struct {
	// Keys are the constraints by which it does.
	Keys []string
	// Kept: no row that is there gets another value of them.
	Kept bool
	// Update: rows that are there are updated.
	Update bool
	// Again: rows may be left that run again would be added.
	Again bool
	// Twice: an updated row counts as two, as MySQL has it.
	Twice bool
}

// Compaction is what rewriting data files adds to a Write, whose rows are whole rows of Target at Target.Base in
// no other order than Order.
type Compaction struct {
	// Tasks are the data files that go, with all deletes that apply to their rows.
	Tasks []FileTask
	// Bins, if there are any, are Tasks cut into runs: each becomes files of its own, its rows in
	// the order of the files that they lie in, and Input is not read.
	Bins [][]FileTask
	// Gather: rows of several partitions are gathered by partition before they are written.
	Gather bool
	// Drop are delete files that no data file is left for.
	Drop []*lake.DataFile
	// SpecID is the partition spec of the new files.
	SpecID int
	// FileBytes is the size at which a new file ends; 0: what the table says.
	FileBytes int64
	// Order is that of rows within a file, over the columns 1, 2, … that are the fields of
	// Target.Schema; OrderID the sort order of the table's that new files may claim, 0: none.
	Order   []SortKey
	OrderID int
	// KeepSeq gives the new files the sequence number of Target.Base: equality deletes that come
	// meanwhile apply to them.
	KeepSeq bool
	// Share is how many such writes share the statement's memory; 0: this one alone.
	Share int
}

func (n *Write) Columns() []Column { return named(n.Returning) }
func (n *Write) Inputs() []Node    { return []Node{n.Input} }
func (n *Write) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *Write) reshape(r *reshaper) Node {
	m := *n
	m.Action, m.File, m.Pos, m.RowID, m.RowSeq = r.expr(n.Action), r.expr(n.File), r.expr(n.Pos), r.expr(n.RowID), r.expr(n.RowSeq)
	m.Row, m.Returning = r.list(n.Row), r.named(n.Returning)
	return &m
}
