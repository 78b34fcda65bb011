package plan

import "github.com/lhsql/lhsql/lake"

// This file holds the write statements as bind makes them: declarative, with every name,
// default and assignment cast resolved. Package dml lowers them to joins, projections and a
// sink; nothing else of the planner or exec ever sees them.
//
// A row of the target is always whole: one value per top-level field of Target.Schema, in the
// schema's order, already of the field's type. NOT NULL is checked by the writer, on the rows
// that it writes.

// WriteTarget is the table that a statement writes.
type WriteTarget struct {
	Table  *lake.Table
	Branch string         // "" is main
	Base   *lake.Snapshot // the branch's head that the statement reads; nil: no data yet
	Schema *lake.Schema   // the table's current schema: writers write this one
	Alias  string         // as the statement calls it, for messages and EXPLAIN
	Checks []Check        // what new rows must satisfy; none for DELETE
}

// Check is a CHECK constraint: Pred, over Cols, one for each of the target's fields, may not be FALSE.
type Check struct {
	Name string
	Pred Expr
	Cols []Column
}

// RowAddress names the hidden columns of the target's Scan that tell where a row lies. RowID
// and RowSeq have ID 0 where the table has no row lineage (before v3).
type RowAddress struct {
	File, Pos, SpecID, RowID, RowSeq Column
}

// Insert writes Source's rows. Source.Columns() are the fields of Target.Schema in order.
type Insert struct {
	Target WriteTarget
	Source Node
	// Given[i] tells whether the statement gave field i a value of its own; the others are
	// filled with the field's write default or NULL.
	Given []bool
	// Overwrite replaces: with Static, the partitions for which all of Static hold; without,
	// the partitions that Source has rows for (dynamic), or the whole unpartitioned table.
	Overwrite bool
	Static    []StaticPartition
	Returning []Named // over Source's columns; nil: none
	// Upsert is set where rows that are there have been left out of Source.
	Upsert *Upsert
}

// StaticPartition is `column = constant` of INSERT OVERWRITE … PARTITION.
type StaticPartition struct {
	FieldID int // of the top-level source column
	Value   Expr
}

// Update gives each target row that leaves Source new values. Source is the target's Scan,
// joined with what FROM lists, filtered by WHERE; a target row with several partners takes an
// arbitrary one, as in PostgreSQL.
type Update struct {
	// WholeFiles: files are replaced, whatever the table's write mode is.
	WholeFiles bool
	Target     WriteTarget
	Scan       *Scan // the target as it stands inside Source
	Address    RowAddress
	Source     Node
	// Row are the columns of the new row; Values its expressions over Source's columns. A field
	// that is not assigned has its old column there, and Changed[i] is false.
	Row       []Column
	Values    []Expr
	Changed   []bool
	Returning []Named // over Row's columns and Source's
}

// Delete removes each target row that leaves Source.
type Delete struct {
	Target    WriteTarget
	Scan      *Scan
	Address   RowAddress
	Source    Node
	Returning []Named // over Source's columns
}

// Merge joins Scan (the target) with Source on On; the first arm whose match and Cond hold acts
// on the pair. A target row that two source rows act on is error 21000.
type Merge struct {
	Target  WriteTarget
	Scan    *Scan
	Address RowAddress
	Source  Node
	On      Expr
	Arms    []MergeArm
	// Row are the columns that RETURNING calls the target's: the new row of an insert or
	// update, the old one of a delete. Action is text: 'INSERT', 'UPDATE' or 'DELETE'.
	Row       []Column
	Action    Column
	Returning []Named // over Row, Action and Source's columns
	// Upsert and Statement are set where the statement is an INSERT … ON CONFLICT or its like.
	Upsert    *Upsert
	Statement string
}

// MergeMatch says for which pairs an arm stands.
type MergeMatch uint8

const (
	Matched            MergeMatch = iota // a pair: Cond and Values read both sides
	NotMatched                           // source row without target row: Cond and Values read Source only
	NotMatchedBySource                   // target row without source row: Cond and Values read Scan only
)

// MergeDo is what an arm does.
type MergeDo uint8

const (
	MergeNothing MergeDo = iota // the pair is consumed; later arms do not see it
	MergeInsert                 // Values become a row
	MergeUpdate                 // Values take the place of the pair's target row
	MergeDelete                 // the pair's target row goes
)

// MergeArm is one WHEN. Values is the whole new row for MergeInsert and MergeUpdate; Changed as
// in Update (for an insert: the fields that were given).
type MergeArm struct {
	Match   MergeMatch
	Cond    Expr // nil: TRUE
	Do      MergeDo
	Values  []Expr
	Changed []bool
}

// Replace removes each target row that leaves Gone and inserts Rows, whose columns are the fields of
// Target.Schema in order.
type Replace struct {
	Target  WriteTarget
	Address RowAddress // in Gone
	Gone    Node
	Rows    Node
	Upsert  *Upsert
}

func (n *Insert) Columns() []Column { return named(n.Returning) }
func (n *Update) Columns() []Column { return named(n.Returning) }
func (n *Delete) Columns() []Column { return named(n.Returning) }
func (n *Merge) Columns() []Column  { return named(n.Returning) }

func (*Replace) Columns() []Column { return nil }

func (n *Insert) Inputs() []Node { return []Node{n.Source} }
func (n *Update) Inputs() []Node { return []Node{n.Source} }
func (n *Delete) Inputs() []Node { return []Node{n.Source} }

// Inputs of Merge are the target's scan, then the source.
func (n *Merge) Inputs() []Node { return []Node{n.Scan, n.Source} }

// Inputs of Replace are what goes, then what comes.
func (n *Replace) Inputs() []Node { return []Node{n.Gone, n.Rows} }

func (n *Insert) WithInputs(in ...Node) Node {
	m := *n
	m.Source = in[0]
	return &m
}
func (n *Update) WithInputs(in ...Node) Node {
	m := *n
	m.Source = in[0]
	return &m
}
func (n *Delete) WithInputs(in ...Node) Node {
	m := *n
	m.Source = in[0]
	return &m
}

// WithInputs of Merge keeps the scan where the first input is no Scan: until dml lowers the
// statement nothing may stand between it and its target.
func (n *Merge) WithInputs(in ...Node) Node {
	m := *n
	if s, ok := in[0].(*Scan); ok {
		m.Scan = s
	}
	m.Source = in[1]
	return &m
}

func (n *Replace) WithInputs(in ...Node) Node {
	m := *n
	m.Gone, m.Rows = in[0], in[1]
	return &m
}

func (n *Replace) reshape(*reshaper) Node {
	m := *n
	return &m
}
func (n *Insert) reshape(r *reshaper) Node {
	m := *n
	m.Returning = r.named(n.Returning)
	m.Static = append([]StaticPartition(nil), n.Static...)
	for i := range m.Static {
		m.Static[i].Value = r.expr(m.Static[i].Value)
	}
	return &m
}
func (n *Update) reshape(r *reshaper) Node {
	m := *n
	m.Row, m.Values, m.Returning = r.columns(n.Row), r.list(n.Values), r.named(n.Returning)
	return &m
}
func (n *Delete) reshape(r *reshaper) Node {
	m := *n
	m.Returning = r.named(n.Returning)
	return &m
}
func (n *Merge) reshape(r *reshaper) Node {
	m := *n
	m.On, m.Row, m.Action, m.Returning = r.expr(n.On), r.columns(n.Row), r.column(n.Action), r.named(n.Returning)
	m.Arms = append([]MergeArm(nil), n.Arms...)
	for i := range m.Arms {
		m.Arms[i].Cond, m.Arms[i].Values = r.expr(m.Arms[i].Cond), r.list(m.Arms[i].Values)
	}
	return &m
}
