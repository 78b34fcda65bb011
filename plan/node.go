package plan

import (
	"context"

	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

// Node is a relational operator. The set is sealed. Columns gives the output columns in order,
// each ID unique within the statement; Inputs the children; WithInputs a copy with other
// children of the same columns.
type Node interface {
	Columns() []Column
	Inputs() []Node
	WithInputs(...Node) Node
	reshape(r *reshaper) Node // a copy with its parts passed through r; sealed
}

// Named gives a computed expression its output column.
type Named struct {
	Col  Column
	Expr Expr
}

// ScanColumn ties an output column to what of the file it reads: a field id, or one of the
// hidden columns below.
type ScanColumn struct {
	Column
	FieldID int // Iceberg field id of a top-level field, or a Hidden… constant
}

// Hidden columns have the spec's reserved field ids (Iceberg spec, "Reserved Field IDs").
const (
	HiddenFile   = 2147483646 // _file text
	HiddenPos    = 2147483645 // _pos bigint: row ordinal in its data file
	HiddenSpecID = 2147483543 // _spec_id int
	HiddenRowID  = 2147483540 // _row_id bigint (v3 row lineage)
	HiddenRowSeq = 2147483539 // _last_updated_sequence_number bigint (v3)
)

// Scan reads one snapshot of an Iceberg table. The scan owns Pred: rows that leave satisfy it.
type Scan struct {
	Table    *lake.Table
	Snapshot *lake.Snapshot // nil: the table has no snapshot, no rows
	Schema   *lake.Schema   // the schema that names and types resolve in
	Alias    string
	Cols     []ScanColumn
	Pred     Expr // over Cols; nil: TRUE
	// PredCols are columns that Pred reads and the output need not have. They follow the same
	// rules as Cols; Columns() does not list them.
	PredCols []ScanColumn

	// Files, if set, are data files that no snapshot has yet: these are read, and Snapshot is nil.
	Files []*lake.DataFile
	// Only, if set, are the data files of Snapshot, by path, of which alone rows are read.
	Only map[string]bool

	// Filled by the planner's prune pass.
	Pruned bool
	Tasks  []FileTask
	Report *PruneReport

	// RuntimeFilters are join-key filters that appear at run time; exec fills them in before
	// the scan starts, the scan and prune use them to skip files, row groups and rows.
	RuntimeFilters []*RuntimeFilter
}

// FileTask is one data file of a scan, with the deletes that apply to it and what of the
// predicate is left to test on its rows.
type FileTask struct {
	File     *lake.DataFile
	Deletes  []*lake.DataFile // position deletes, equality deletes, at most one deletion vector
	Residual Expr             // nil: every row satisfies
}

// PruneReport says what pruning skipped, for EXPLAIN.
type PruneReport struct {
	Manifests, ManifestsSkipped int
	Files, FilesSkipped         int
	SkippedByPartition          int // files by manifest or partition tuple
	SkippedByBounds             int // files by column bounds and counts
	Bytes, BytesSkipped         int64
	Rows                        int64 // record count of the files kept, deletes not subtracted
	DeleteFiles                 int
	FromMetadata                int  // files whose part of an aggregate came from metadata
	Off                         bool // lhsql.pruning = off
}

// RuntimeFilter passes the keys found on a join's build side to a scan on its probe side. It
// may only ever let too much through. Expr is over the scan's columns.
type RuntimeFilter struct {
	Expr Expr
	// Values is set once by the join, before the probe side is opened; exec defines what.
	Values any
}

// Virtual reads a table that is computed: pg_catalog, information_schema, Iceberg metadata.
type Virtual struct {
	Table VirtualTable
	Alias string
	Cols  []Column
	Index []int // Cols[i] is the table's column Index[i]
	Pred  Expr  // a hint that the table may use to make fewer rows; a Filter above still tests
	// RuntimeFilters are hints like Pred: see Scan.
	RuntimeFilters []*RuntimeFilter
}

// VirtualTable makes its rows on demand. Fields never changes. Rows calls yield once per row,
// members in Fields' order, and stops at yield's error, returning it; the row is yield's until it
// returns. equal holds the
// `column = constant` terms that the query asks for, by field index: a table may use them to
// skip work (load only the tables that a predicate names), or ignore them.
type VirtualTable interface {
	Name() string
	Fields() []types.Field
	Rows(ctx context.Context, equal map[int]types.Datum, yield func([]types.Datum) error) error
}

// ColumnTable is a VirtualTable that can spare itself what a query does not ask for.
type ColumnTable interface {
	VirtualTable
	RowsOf(ctx context.Context, ask Ask, yield func([]types.Datum) error) error
}

// Ask says what is wanted of a ColumnTable. The zero Ask wants all.
type Ask struct {
	Need  []int                 // the columns that have to be right; nil: all
	Equal map[int][]types.Datum // rows are wanted only with one of the values in the column
	// May tells whether a row with d in the column may be wanted, by all that is known of the
	// column; nil: it may. It is cheap beside loading a table's metadata.
	May func(column int, d types.Datum) bool
	// Among is May for many values at once, for less each; nil: ask one by one.
	Among func(column int, d []types.Datum) []bool
}

// SizedTable is a ColumnTable that can guess, without looking, what reading it takes.
type SizedTable interface {
	ColumnTable
	Size() Size
}

// Size is a guess of a computed table's size, for choosing between equivalent plans.
type Size struct {
	Rows float64
	Work float64 // of making all rows, in rows of a table that is at hand
	Keys []int   // columns whose known values spare most of the work
}

// Values is a literal relation. Rows of expressions over no input (outer references allowed).
// One row and no columns is the FROM-less SELECT's input; no rows is the empty relation.
type Values struct {
	Cols []Column
	Rows [][]Expr
	// From says where rows that the planner made come from, for EXPLAIN: "metadata of t".
	From string
}

// Filter keeps the rows for which Pred is true.
type Filter struct {
	Input Node
	Pred  Expr
}

// Project computes its columns. It passes no input column on unless listed (as a Col).
type Project struct {
	Input Node
	Exprs []Named
}

// ProjectSet is Project whose expressions may be SetFunc calls at the top level: it makes as
// many rows as the longest of them, shorter ones give NULL (PostgreSQL's rule since 10).
type ProjectSet struct {
	Input Node
	Exprs []Named
	// Outer: an input row whose sets are all empty makes one row, with NULL for them.
	Outer bool
	// Ordinal, unless its ID is 0, numbers the rows of one input row from 1, as WITH ORDINALITY
	// does; it is NULL in a row that Outer makes.
	Ordinal Column
}

// FuncScan is set-returning functions in FROM (ROWS FROM when several), in lock step. A scalar
// function gives one row. Calls may have outer references (LATERAL), then it stands in an Apply.
type FuncScan struct {
	Calls      []*Call
	Cols       []Column // the functions' columns in order, then ordinality if asked
	Ordinality bool
}

// Widths tells how many of Cols each call makes: one, or as many as a composite result has members.
func (n *FuncScan) Widths() []int {
	cols, total := len(n.Cols), 0
	if n.Ordinality {
		cols--
	}
	widths := make([]int, len(n.Calls))
	for i, c := range n.Calls {
		widths[i] = 1
		if c.Typ.Kind == types.Struct {
			widths[i] = max(1, len(c.Typ.Fields()))
		}
		total += widths[i]
	}
	// A composite that is one column, not its members.
	if total != cols && len(n.Calls) == cols {
		for i := range widths {
			widths[i] = 1
		}
		total = cols
	}
	invariant.Check(total == cols, "functions in FROM make %d columns, not %d", total, cols)
	return widths
}

// JoinKind is the kind of a Join or an Apply.
type JoinKind uint8

const (
	InnerJoin  JoinKind = iota // pairs for which On is true
	LeftJoin                   // these, and left rows without a partner beside NULLs
	RightJoin                  // a left join seen from the other side
	FullJoin                   // both
	SemiJoin                   // left rows with a partner; right columns do not leave
	AntiJoin                   // left rows without a partner (On not true)
	SingleJoin                 // left join that fails with 21000 at a second partner (scalar subquery)
	MarkJoin                   // all left rows plus Mark: true, false or NULL as x IN (…) has it
)

// JoinMethod is how exec runs a join; the planner chooses.
type JoinMethod uint8

const (
	AutoJoin JoinMethod = iota // not chosen yet
	HashJoin                   // by the keys that On compares with =
	LoopJoin                   // every pair: what is left where On has no such key
)

// Join combines rows of Left and Right for which On is true. On nil: TRUE.
// Output: Left's columns then Right's; Left's only for Semi and Anti; Left's and Mark for Mark.
type Join struct {
	Kind        JoinKind
	Left, Right Node
	On          Expr
	Mark        Column // MarkJoin
	// Chosen by the planner. Equi-keys, LeftKeys[i] = RightKeys[i]; NullSafe[i]: IS NOT
	// DISTINCT FROM. Rest is the remainder of On after the keys.
	Method              JoinMethod
	BuildLeft           bool
	LeftKeys, RightKeys []Expr
	NullSafe            []bool
	Rest                Expr
	Filters             []*RuntimeFilter // one per key or nil, given to scans on the probe side
	// Guard is over Left's columns; nil: TRUE. Right must not run before a left row passes it.
	// On already keeps partners from rows that do not.
	Guard Expr
}

// Apply evaluates Right once per row of Left, whose columns Right may reference. The
// decorrelate pass turns it into joins; what it cannot, exec runs row by row.
type Apply struct {
	Kind        JoinKind // Inner, Left, Semi, Anti, Single, Mark
	Left, Right Node
	On          Expr
	Mark        Column
	// Guard is over Left's columns; nil: TRUE. For a row that does not pass it Right is not
	// evaluated and has no rows: what stands in an arm of CASE that is not taken cannot fail.
	Guard Expr
}

// SortKey is one ORDER BY item.
type SortKey struct {
	Expr       Expr
	Desc       bool
	NullsFirst bool
}

// Agg is one aggregate of an Aggregate.
type Agg struct {
	Func     *Function
	Args     []Expr
	Distinct bool
	Filter   Expr
	OrderBy  []SortKey // within the call; WITHIN GROUP's too
	Out      Column
}

// Aggregate groups Input. No Groups and no Sets: one row always. Output: Groups' columns, then
// Aggs' Out, then GroupingSet when it has an ID.
type Aggregate struct {
	Input  Node
	Groups []Named
	// Sets lists grouping sets as indexes into Groups; nil: the one set of all Groups.
	Sets [][]int
	Aggs []Agg
	// GroupingSet, if its ID is not 0, is a bigint whose bit i is set when Groups[i] is not part
	// of the row's grouping set.
	GroupingSet Column
}

// FrameMode is the unit of a window frame (SQL:2011 7.15).
type FrameMode uint8

const (
	RangeFrame  FrameMode = iota // ends are distances between values of the one ORDER BY key
	RowsFrame                    // ends are numbers of rows
	GroupsFrame                  // ends are numbers of groups of peers
)

// BoundKind is what an end of a frame is measured from.
type BoundKind uint8

const (
	UnboundedPreceding BoundKind = iota
	OffsetPreceding
	CurrentRow
	OffsetFollowing
	UnboundedFollowing
)

// FrameBound is an end of a frame; Offset is set for the two kinds of offset alone.
type FrameBound struct {
	Kind   BoundKind
	Offset Expr
}

// FrameExclusion says which rows about the current one a frame leaves out.
type FrameExclusion uint8

const (
	ExcludeNoOthers FrameExclusion = iota
	ExcludeCurrentRow
	ExcludeGroup
	ExcludeTies
)

// Frame is the rows that a window function looks at, seen from each row.
type Frame struct {
	Mode       FrameMode
	Start, End FrameBound
	Exclude    FrameExclusion
}

// WindowCall is one function over a Window.
type WindowCall struct {
	Func   *Function
	Args   []Expr
	Filter Expr
	Frame  Frame
	Out    Column
}

// Window adds the Calls' Out columns to Input's, all over one PARTITION BY and ORDER BY.
type Window struct {
	Input     Node
	Partition []Expr
	Order     []SortKey
	Calls     []WindowCall
}

// Sample keeps about Percent of a hundred of Input's rows, chosen by where each lies: the same rows as long as
// the table's files and Seed are the same.
type Sample struct {
	Input     Node
	File, Pos Column // of Input: each row's address
	Percent   Expr   // a float8 without columns
	Seed      Expr   // likewise; nil: another at each run
	Blocks    bool   // rows that lie together are kept or left together (SYSTEM)
}

// Sort orders Input. With Limit ≥ 0 set by the planner (HasLimit) it keeps the first
// Limit rows only: top-N.
type Sort struct {
	Input    Node
	Keys     []SortKey
	HasLimit bool
	Limit    int64
}

// Limit passes Count rows after Offset. nil: no bound. Count and Offset are constant
// expressions (parameters allowed), NULL meaning none, negative an error (2201W, 2201X).
// WithTies also passes the rows equal to the last by Keys, the sort order of Input.
type Limit struct {
	Input         Node
	Count, Offset Expr
	WithTies      bool
	Keys          []SortKey
}

// Distinct keeps one row of those equal in On (nil: all columns; equality with NULL = NULL).
// With On, the first in Input's order stays: DISTINCT ON.
type Distinct struct {
	Input Node
	On    []Expr
}

// SetOpKind is the kind of a SetOp; whether duplicates stay is another matter.
type SetOpKind uint8

const (
	Union     SetOpKind = iota // rows of either side
	Intersect                  // rows of both
	Except                     // rows of the left side that the right has not
)

// SetOp combines inputs of the same column types by position into new columns Cols.
type SetOp struct {
	Kind        SetOpKind
	All         bool
	Left, Right Node
	Cols        []Column
}

// CTE is a common table expression that is computed once and read by CTERef nodes.
type CTE struct {
	Name string
	Plan Node
	// Recursive: Plan is the base, Step reads the rows of the last round through a CTERef with
	// Work set; UNION (Distinct) drops rows seen before.
	Step     Node
	Distinct bool
	Cols     []Column // output columns of Plan by position
	// Materialized: the query says so; else the planner may compute it as often as it likes.
	Materialized bool
	// NotMaterialized: the query says so; the planner computes it at each reference.
	NotMaterialized bool
}

// With makes CTEs available to Body (and to later CTEs).
type With struct {
	CTEs []*CTE
	Body Node
}

// CTERef reads a CTE; Cols are fresh columns by position.
type CTERef struct {
	CTE  *CTE
	Work bool // inside Step: the previous round's rows
	Cols []Column
}
