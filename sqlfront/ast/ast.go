// Package ast is the one syntax tree that every dialect's parser makes and bind reads.
//
// It says what was written, not what it means: names are unresolved, operators are spelled.
// Every node that an error may point at carries Pos, the byte offset in the statement's text.
package ast

import "github.com/lhsql/lhsql/types"

// Stmt is a statement. Sealed.
type Stmt interface{ stmt() }

// Expr is an expression as written. Sealed.
type Expr interface{ Position() int }

// Name is a dotted name: column, table or function. Parts are already case-folded.
type Name struct {
	Parts []string
	Pos   int
}

// ---- expressions ----

type Ident struct{ Name } // column reference
type Star struct {
	Qualifier []string
	Pos       int
} // * or t.*

// Lit is a constant. Kind: 'i' integer, 'n' numeric, 's' string (type unknown), 'b' bool,
// '0' NULL, 'x' bit string; of MySQL's also 'f' approximate number (1e3) and 'h' bytes (x'41').
type Lit struct {
	Kind byte
	Text string
	Pos  int
}

type Param struct{ Index, Pos int } // $n

// Variable is MySQL's @x (Scope "user"), @@x (Scope "") or @@scope.x.
type Variable struct {
	Scope, Name string // lower case
	Pos         int
}

// Unary and Binary operators by spelling; Schema is set by OPERATOR(schema.op). Binary also
// carries "LIKE", "ILIKE", "SIMILAR TO" with their NOT forms as "~~", "!~~", "~~*", "!~~*",
// and similar-to as "~" over similar_to_escape(), as PostgreSQL's grammar does.
type Unary struct {
	Op, Schema string
	X          Expr
	Pos        int
}

// Binary is L Op R.
type Binary struct {
	Op, Schema string
	L, R       Expr
	Pos        int // of the operator
}

// And is a conjunction. It has a list, not two sides, so that long WHERE clauses make no deep trees.
type And struct {
	Args []Expr
	Pos  int
}

// Or is a disjunction, as a list like And's.
type Or struct {
	Args []Expr
	Pos  int
}

// Not is NOT X.
type Not struct {
	X   Expr
	Pos int
}

// IsNull is X IS [NOT] NULL; of a row it asks for all of its fields.
type IsNull struct {
	X      Expr
	Negate bool
	Pos    int
}

// IsBool is X IS [NOT] TRUE|FALSE|UNKNOWN. Value: 't', 'f', 'u'.
type IsBool struct {
	X      Expr
	Value  byte
	Negate bool
	Pos    int
}

// IsDistinct is L IS [NOT] DISTINCT FROM R, MySQL's <=> among its spellings.
type IsDistinct struct {
	L, R   Expr
	Negate bool
	Pos    int
}

// Between is X [NOT] BETWEEN [SYMMETRIC] Lo AND Hi. It is a node of its own because X is evaluated once.
type Between struct {
	X, Lo, Hi         Expr
	Negate, Symmetric bool
	Pos               int
}

// In is X [NOT] IN (list); with a query in the place of the list it is a Subquery.
type In struct {
	X      Expr
	List   []Expr
	Negate bool
	Pos    int
}

// Quantified is L op ANY|ALL (array expression); with a subquery see Subquery.
type Quantified struct {
	Op, Schema string
	L, Array   Expr
	All        bool
	Pos        int
}

// Subquery: Kind 's' scalar, 'e' EXISTS, 'a' ANY (IN is Op "=" ANY; NOT IN is Not of it), 'l' ALL, 'r' ARRAY.
type Subquery struct {
	Kind  byte
	Test  Expr // a Row for several columns
	Op    string
	Query *Query
	Pos   int
}

// Case is CASE [Operand] WHEN … THEN … [ELSE …] END.
type Case struct {
	Operand Expr // simple CASE
	Whens   []When
	Else    Expr
	Pos     int
}

// When is an arm of Case. Cond is compared with the operand if there is one.
type When struct{ Cond, Then Expr }

// Coalesce is no Call, because its arguments are evaluated only until one is not NULL.
type Coalesce struct {
	Args []Expr
	Pos  int
}

// MinMax is GREATEST or LEAST.
type MinMax struct {
	Greatest bool
	Args     []Expr
	Pos      int
}

// NullIf is NULLIF(L, R): no Call, because the type of the result is L's, whatever they are compared as.
type NullIf struct {
	L, R Expr
	Pos  int
}

// Call is a function call. Special syntax (EXTRACT, SUBSTRING FROM, TRIM, OVERLAY, POSITION,
// AT TIME ZONE, current_date …) arrives as the function that PostgreSQL's grammar maps it to.
type Call struct {
	Name     Name
	Args     []Arg
	Star     bool // count(*)
	Distinct bool
	OrderBy  []Order // in the call, or WITHIN GROUP
	Within   bool    // WITHIN GROUP
	Filter   Expr
	Over     *WindowDef
	Variadic bool // last argument is VARIADIC array
	// IgnoreNulls: IGNORE NULLS.
	IgnoreNulls bool
	Pos         int
}

// Arg is an argument of a call.
type Arg struct {
	Name string // named argument: name => value
	Expr Expr
}

// Cast is CAST(X AS Type), X::Type or a typed literal such as DATE '2020-01-01'.
type Cast struct {
	X    Expr
	Type TypeName
	Pos  int
}

// Collate is X COLLATE Name.
type Collate struct {
	X    Expr
	Name Name
	Pos  int
}

// Array is ARRAY[…].
type Array struct {
	Elems []Expr
	Pos   int
}

// Row is ROW(…), or without Explicit a list in parentheses.
type Row struct {
	Elems    []Expr
	Explicit bool
	Pos      int
}

// Field is (X).Name, or with Star (X).*.
type Field struct {
	X    Expr
	Name string
	Star bool
	Pos  int
}

// Index is X[Lower], or with Slice X[Lower:Upper] where either bound may be nil.
type Index struct {
	X            Expr
	Lower, Upper Expr
	Slice        bool
	Pos          int
}

// Grouping is GROUPING(…): which of its arguments a row's grouping set leaves out, as bits.
type Grouping struct {
	Args []Expr
	Pos  int
}

// Default is DEFAULT in VALUES and SET.
type Default struct{ Pos int }

// MergeAction is merge_action() in MERGE … RETURNING.
type MergeAction struct{ Pos int }

// CurrentOf and the like are refused by the parser with a clear error.

// Position gives where the expression starts, or its operator.
func (e *Ident) Position() int       { return e.Pos }
func (e *Star) Position() int        { return e.Pos }
func (e *Lit) Position() int         { return e.Pos }
func (e *Param) Position() int       { return e.Pos }
func (e *Variable) Position() int    { return e.Pos }
func (e *Unary) Position() int       { return e.Pos }
func (e *Binary) Position() int      { return e.Pos }
func (e *And) Position() int         { return e.Pos }
func (e *Or) Position() int          { return e.Pos }
func (e *Not) Position() int         { return e.Pos }
func (e *IsNull) Position() int      { return e.Pos }
func (e *IsBool) Position() int      { return e.Pos }
func (e *IsDistinct) Position() int  { return e.Pos }
func (e *Between) Position() int     { return e.Pos }
func (e *In) Position() int          { return e.Pos }
func (e *Quantified) Position() int  { return e.Pos }
func (e *Subquery) Position() int    { return e.Pos }
func (e *Case) Position() int        { return e.Pos }
func (e *Coalesce) Position() int    { return e.Pos }
func (e *MinMax) Position() int      { return e.Pos }
func (e *NullIf) Position() int      { return e.Pos }
func (e *Call) Position() int        { return e.Pos }
func (e *Cast) Position() int        { return e.Pos }
func (e *Collate) Position() int     { return e.Pos }
func (e *Array) Position() int       { return e.Pos }
func (e *Row) Position() int         { return e.Pos }
func (e *Field) Position() int       { return e.Pos }
func (e *Index) Position() int       { return e.Pos }
func (e *Grouping) Position() int    { return e.Pos }
func (e *Default) Position() int     { return e.Pos }
func (e *MergeAction) Position() int { return e.Pos }

// TypeName is a type as written. Mods are its integer parameters; Array the number of [].
// Struct, list and map types of CREATE TABLE: Name "struct"/"map"/"list" with Args.
type TypeName struct {
	Schema string
	Name   string // canonical PostgreSQL spelling where it has one: int4, timestamptz, bpchar …
	Mods   []int
	Array  int
	Args   []TypeArg
	// Interval: field restriction as written ("day to second"), "" if none.
	Fields string
	// MySQL is a column's type in MySQL's terms; Mods are its numbers. nil: it is of the others.
	MySQL *types.MySQLType
	Pos   int
}

// TypeArg is a field of a struct's type, or an unnamed argument of a list's or map's.
type TypeArg struct {
	Name    string
	Type    TypeName
	NotNull bool
}

// ---- queries ----

// Query is a SELECT in the widest sense: WITH, a body, ORDER BY, LIMIT.
type Query struct {
	With     *With
	Body     QueryBody
	OrderBy  []Order
	Limit    Expr // nil: none; LIMIT ALL is nil
	Offset   Expr
	WithTies bool
	Locking  string // strongest FOR clause: "update", "no key update", "share", "key share"; "" none
	Pos      int
}

// QueryBody is what a Query orders and limits: a Select, a SetOp or Values.
type QueryBody interface{ body() }

// Select is SELECT without what stands behind a whole query (ORDER BY, LIMIT, WITH).
type Select struct {
	Distinct      bool
	DistinctOn    []Expr
	Items         []Item
	Into          bool // SELECT INTO: refused in bind with CTAS offered
	From          []TableExpr
	Where         Expr
	GroupBy       []GroupItem
	GroupDistinct bool
	Having        Expr
	Windows       []NamedWindow
	Pos           int
}

// SetOp is UNION, INTERSECT or EXCEPT. The sides are whole queries because each may have its own ORDER BY and
// LIMIT.
type SetOp struct {
	Op          string // "union", "intersect", "except"
	All         bool
	Left, Right *Query
	Pos         int
}

// Values is VALUES (…), (…), as a query of its own, in FROM or behind INSERT.
type Values struct {
	Rows [][]Expr
	Pos  int
}

func (*Select) body() {}
func (*SetOp) body()  {}
func (*Values) body() {}

// Item is an entry of a select list or of RETURNING.
type Item struct {
	Expr  Expr
	Alias string
	Pos   int
}

// Order is an item of ORDER BY.
type Order struct {
	Expr       Expr
	Desc       bool
	NullsFirst *bool // nil: the direction's default (ASC last, DESC first)
	Using      string
	Pos        int
}

// GroupItem is an expression, or a grouping construct of nested items.
type GroupItem struct {
	Kind  byte   // 'e' expression, 'r' ROLLUP, 'c' CUBE, 's' GROUPING SETS, '0' empty set ()
	Exprs []Expr // 'e': one (a Row for a composite)
	Sets  []GroupItem
	Pos   int
}

// WindowDef is what stands behind OVER, or in the WINDOW clause.
type WindowDef struct {
	Name      string // OVER name, or the base of an in-line definition
	Inline    bool
	Partition []Expr
	Order     []Order
	Frame     *Frame
	Pos       int
}

// NamedWindow is an entry of the WINDOW clause.
type NamedWindow struct {
	Name string
	Def  WindowDef
}

// Frame is a window's frame clause.
type Frame struct {
	Mode       byte // 'r' ROWS, 'a' RANGE, 'g' GROUPS
	Start, End Bound
	Exclude    byte // 0, 'c' CURRENT ROW, 'g' GROUP, 't' TIES
}

// Bound is an end of a Frame.
type Bound struct {
	Kind   byte // 'P' unbounded preceding, 'p' offset preceding, 'c', 'f' offset following, 'F'
	Offset Expr
}

// With is a WITH clause.
type With struct {
	Recursive bool
	CTEs      []CTE
}

// CTE is a common table expression. Materialized is what is written; nil leaves it to the planner.
type CTE struct {
	Name         string
	Columns      []string
	Query        *Query
	Materialized *bool
	Stmt         Stmt // data-modifying CTE: refused in bind unless supported
	Pos          int
}

// TableExpr is an item of FROM.
type TableExpr interface{ tableExpr() }

// Alias is AS Name [(Columns)] behind an item of FROM.
type Alias struct {
	Name    string
	Columns []string
	// ColDefs: column definition list of a record-returning function.
	ColDefs []ColDef
}

// ColDef is a column of a record's definition list.
type ColDef struct {
	Name string
	Type TypeName
}

// TableName is a table, view or CTE in FROM, or the target of a statement.
type TableName struct {
	Name
	Alias  Alias
	AsOf   *AsOf // the clause; a ref in the name (t.branch_b, "t@b") is bind's to find
	Sample *Sample
}

// Sample is TABLESAMPLE Method (Args) [REPEATABLE (Repeatable)].
type Sample struct {
	Method     string
	Args       []Expr
	Repeatable Expr
}

// SubqueryTable is a query in FROM.
type SubqueryTable struct {
	Query   *Query
	Alias   Alias
	Lateral bool
	AsOf    *AsOf
	Pos     int
}

// FuncTable is a function in FROM, or several that ROWS FROM sets side by side.
type FuncTable struct {
	Calls      []*Call // several: ROWS FROM
	AsOf       *AsOf   // of iceberg('path') alone
	Ordinality bool
	Alias      Alias
	Lateral    bool
	Pos        int
	// CallDefs are the column definition lists of ROWS FROM (f(…) AS (a int), …).
	CallDefs map[*Call][]ColDef
}

// JoinTable is a join. A comma in FROM is none: From is a list.
type JoinTable struct {
	Kind        string // "inner", "left", "right", "full", "cross"
	Natural     bool
	Left, Right TableExpr
	On          Expr
	Using       []string
	UsingAlias  string
	Alias       Alias
	Pos         int
}

// JSONTable is MySQL's JSON_TABLE(doc, path COLUMNS (…)).
type JSONTable struct {
	Doc     Expr
	Path    string
	Columns []JSONColumn
	Alias   Alias
	Pos     int
}

// JSONColumn is a column of JSON_TABLE, or with Nested the columns of a path below.
type JSONColumn struct {
	Name    string
	Kind    string   // "ordinal", "path", "exists", "nested"
	Type    TypeName // of a path and of EXISTS
	Chars   int      // n of CHAR(n); 0: any
	Path    string
	OnEmpty JSONElse
	OnError JSONElse
	Nested  []JSONColumn
	Pos     int
}

// JSONElse is NULL, DEFAULT with JSON text, or ERROR.
type JSONElse struct {
	Error   bool
	Default *Lit
}

func (*TableName) tableExpr()     {}
func (*JSONTable) tableExpr()     {}
func (*SubqueryTable) tableExpr() {}
func (*FuncTable) tableExpr()     {}
func (*JoinTable) tableExpr()     {}

// AsOf is a time-travel clause, all spellings of docs/sql.md reduced to one.
type AsOf struct {
	Kind AsOfKind
	// Expr is the instant (TimeTravel…), the version (a number or a string naming a ref first), or a
	// range's lower end; Upper the range's upper end.
	Expr, Upper Expr
	// UnixSeconds: an integer instant means seconds since the epoch (Spark).
	UnixSeconds bool
	Pos         int
}

// AsOfKind tells which states of a table an AsOf names.
type AsOfKind uint8

const (
	AsOfTime      AsOfKind = iota // state at the instant
	BeforeTime                    // state just before the instant
	AsOfOffset                    // Expr seconds from now (negative)
	AsOfVersion                   // snapshot id or ref
	BeforeVersion                 // the parent of the snapshot
	AllVersions                   // FOR SYSTEM_TIME ALL
	BetweenTime                   // BETWEEN a AND b (closed, closed)
	FromToTime                    // FROM a TO b (closed, open)
	ContainedIn                   // CONTAINED IN (a, b)
)

// ---- statements ----

// QueryStmt is a query. The rest is MySQL's: Into names the variables that its one row goes into,
// Assigned those that its select list assigns, and CalcFound asks for how many rows there are
// without the LIMIT.
type QueryStmt struct {
	Query     *Query
	Into      []string
	Assigned  []Assigned
	CalcFound bool
}

// Assigned is a user variable that a select list assigns (@v := x). Column is that of the result which
// shows its value; -1: none does.
type Assigned struct {
	Name   string
	Column int
}

// Explain is EXPLAIN, or DESCRIBE of a statement in MySQL's words.
type Explain struct {
	Stmt             Stmt
	Analyze, Verbose bool
	Format           string // "text", "json"
	Options          map[string]string
	Pos              int
}

// Insert. Query nil: DEFAULT VALUES. Overwrite: INSERT OVERWRITE.
type Insert struct {
	With       *With
	Table      TableName
	Columns    []Name
	Query      *Query
	Overwrite  bool
	Overriding string // "system", "user": OVERRIDING … VALUE
	OnConflict *OnConflict
	// Ignore, Replace and OnDuplicate (not nil) are MySQL's INSERT IGNORE, REPLACE and ON DUPLICATE KEY
	// UPDATE, whose assignments call the row As, its columns AsColumns.
	Ignore, Replace bool
	OnDuplicate     []SetItem
	As              string
	AsColumns       []string
	Partition       []SetItem // static partition of INSERT OVERWRITE … PARTITION (a = 1)
	Returning       []Item
	Pos             int
}

// ValuesName is the first part of the name that VALUES(c) in OnDuplicate reads, which nobody can write.
const ValuesName = "VALUES()"

// OnConflict is ON CONFLICT [(columns) | ON CONSTRAINT c] DO NOTHING | DO UPDATE SET … [WHERE …].
type OnConflict struct {
	Columns    []Name
	Constraint string
	Update     bool
	Set        []SetItem
	Where      Expr
	Pos        int
}

// SetItem is an assignment of UPDATE, of MERGE's arms and of upserts.
type SetItem struct {
	Column Name // s.f for a nested field
	// Columns with Row: SET (a, b) = (…).
	Columns []Name
	Value   Expr
	Pos     int
}

// Update and Delete name their target by Table, or give with Tables the joined tables among which
// it is: Delete by the name in Table, Update by the columns that it sets.
type Update struct {
	With      *With
	Tables    []TableExpr
	Table     TableName
	Set       []SetItem
	From      []TableExpr
	Where     Expr
	OrderBy   []Order // MySQL: which rows LIMIT takes
	Limit     Expr
	Returning []Item
	Pos       int
}

// Delete is DELETE.
type Delete struct {
	With      *With
	Tables    []TableExpr
	Table     TableName
	Using     []TableExpr
	Where     Expr
	OrderBy   []Order
	Limit     Expr
	Returning []Item
	Pos       int
}

// Merge is MERGE INTO Table USING Source ON On with its arms in order: a row takes the first that fits.
type Merge struct {
	With      *With
	Table     TableName
	Source    TableExpr
	On        Expr
	Arms      []MergeArm
	Returning []Item
	Pos       int
}

// MergeArm: Match 'm' MATCHED, 't' NOT MATCHED [BY TARGET], 's' NOT MATCHED BY SOURCE.
// Action "update", "delete", "insert", "nothing". Star: UPDATE SET * / INSERT *.
type MergeArm struct {
	Match   byte
	Cond    Expr
	Action  string
	Star    bool
	Set     []SetItem
	Columns []Name
	Values  []Expr
	Default bool // INSERT DEFAULT VALUES
	Pos     int
}

// Truncate is TRUNCATE.
type Truncate struct {
	Tables []TableName
	Pos    int
}

// Copy is COPY of a table or of a query, to or from the client.
type Copy struct {
	Table   *TableName
	Columns []string
	Query   *Query
	From    bool              // COPY FROM
	Stdin   bool              // STDIN or STDOUT; files are refused
	Options map[string]string // lower-case names: format, delimiter, null, header, quote, escape, …
	Where   Expr
	Pos     int
}

// DDL and everything utility.
type CreateTable struct {
	Name        TableName
	IfNotExists bool
	Replace     bool
	Temp        bool
	Columns     []ColumnDef
	Keys        []Key        // with those of Columns
	ForeignKeys []ForeignKey // with those of Columns
	Checks      []Check
	Indexed     bool   // it has KEY or INDEX clauses: what CREATE INDEX does
	PartitionBy []Expr // transforms as Calls or Idents
	SortedBy    []Order
	Props       map[string]Expr // WITH (…), TBLPROPERTIES (…)
	Location    string
	Comment     *string
	As          *Query
	WithNoData  bool
	OnCommit    string // "drop", "delete rows"; "" preserves them
	Like        *TableName
	Pos         int
}

// ColumnDef is a column of CREATE TABLE or of ADD COLUMN, with the constraints that are written behind it.
type ColumnDef struct {
	Name       string
	Type       TypeName
	NotNull    bool
	Null       bool // NULL is written
	Default    Expr
	DefaultSQL string // Default as it is written
	// OnUpdateSQL is MySQL's ON UPDATE CURRENT_TIMESTAMP, as written.
	OnUpdateSQL string
	Identity    *Identity
	Checks      []Check
	Keys        []Key // over this column
	ForeignKeys []ForeignKey
	Comment     string
	Pos         int
}

// Primary is the table's primary key; nil: it has none.
func (t *CreateTable) Primary() *Key {
	for i := range t.Keys {
		if t.Keys[i].Primary {
			return &t.Keys[i]
		}
	}
	return nil
}

// ConstraintModes are what may stand behind a constraint.
type ConstraintModes struct {
	NotEnforced, NotValid, Deferrable, Deferred bool
}

// Key is a PRIMARY KEY or UNIQUE constraint.
type Key struct {
	Name             string // "": none is written
	Columns          []Name
	Prefixes         []int // how many letters or bytes of each column count, 0: all; nil: all of all
	Primary          bool
	Index            bool // it is a unique index's
	NullsNotDistinct bool
	ConstraintModes
	Pos int
}

// ForeignKey is a FOREIGN KEY constraint. References nil: the table's primary key. OnDelete and
// OnUpdate are "restrict", "cascade", "set null"; "" is NO ACTION.
type ForeignKey struct {
	Name               string // "": none is written
	Columns            []Name
	Table              Name
	References         []Name
	MatchFull          bool
	OnDelete, OnUpdate string
	ConstraintModes
	Pos int
}

// Check is a CHECK constraint: SQL is Expr as written, from From on in the statement's text.
type Check struct {
	Name        string // "": none is written
	SQL         string
	Expr        Expr
	From        int
	NotValid    bool // rows that are there are not looked at
	NotEnforced bool
	Pos         int
}

// Identity says that a column numbers its rows: serial, GENERATED … AS IDENTITY, AUTO_INCREMENT.
type Identity struct {
	Kind             string // "always", "default", "auto_increment"
	Start, Increment int64
	Pos              int
}

// CreateView is CREATE VIEW. The text is kept, because that is what a view's metadata holds.
type CreateView struct {
	Name    TableName
	Columns []string
	Query   *Query
	SQL     string // the query's text as written
	SQLPos  int    // where it begins in the statement's text
	Replace bool
	Temp    bool
	Invoker bool // it reads its tables with the rights of who reads it
	Pos     int
}

// CreateSchema is CREATE SCHEMA, or CREATE DATABASE in MySQL's words.
type CreateSchema struct {
	Name        Name
	IfNotExists bool
	Owner       *RoleName // AUTHORIZATION
	Pos         int
}

// Drop is DROP of objects of one kind.
type Drop struct {
	Kind     string // "table", "view", "schema", …
	Names    []Name
	IfExists bool
	Cascade  bool
	Purge    bool
	Temp     bool // temporary tables only
	Pos      int
}

// AlterTable carries its actions in order.
type AlterTable struct {
	Verb     string // the command tag, where it is none of ALTER's
	Name     TableName
	IfExists bool
	Indexed  bool // it makes or drops indexes beside its actions: what CREATE INDEX does
	View     bool
	Actions  []AlterAction
	Pos      int
}

// AlterAction is one action; Op says which fields count. Ops: "add column", "drop column",
// "rename column", "alter type", "set not null", "drop not null", "set default", "drop default",
// "move column", "comment column", "rename", "set schema", "set properties", "unset properties",
// "add partition field", "drop partition field", "replace partition field", "set partitioning",
// "write ordered", "write unordered", "write distributed", "set identifier", "drop identifier",
// "create branch", "create tag", "replace branch", "replace tag", "drop branch", "drop tag",
// "fast forward", "execute".
type AlterAction struct {
	Op          string
	Column      Name // nested: s.f
	NewName     string
	Def         *ColumnDef
	First       bool
	After       string
	Default     Expr
	DefaultSQL  string
	OnUpdateSQL string
	Identity    *Identity
	Type        *TypeName
	Using       Expr // alter type
	Check       *Check
	Key         *Key
	ForeignKey  *ForeignKey
	Comment     string
	Props       map[string]Expr
	Keys        []string
	Field       Expr // partition transform
	NewField    Expr
	Fields      []Expr
	Order       []Order
	Local       bool
	Ref         *RefDef
	Proc        *Call // EXECUTE procedure(args)
	Where       Expr
	IfExists    bool
	IfNotExists bool
	Cascade     bool // drop column: with the views that read it
	Pos         int
}

// RefDef is a branch or tag that ALTER TABLE makes, replaces, drops or moves.
type RefDef struct {
	Name                       string
	Branch                     bool
	Replace                    bool
	IfNotExists                bool
	IfExists                   bool
	AsOf                       *AsOf
	RetainMs, SnapshotRetainMs *int64
	MinSnapshots               *int
	To                         string // fast forward target
}

// Comment is COMMENT ON. Text nil takes it away.
type Comment struct {
	Kind string // "table", "column", "schema", "view"
	Name Name   // for a column: table and column
	Text *string
	Pos  int
}

// Procedure is CALL, and what is spelled as a statement of its own and runs a procedure: VACUUM, OPTIMIZE,
// ROLLBACK TABLE.
type Procedure struct {
	Name  Name
	Args  []Arg
	Where Expr
	Pos   int
}

// Transaction: Op "begin", "commit", "rollback", "savepoint", "release", "rollback to".
type Transaction struct {
	Op         string
	Start      bool // spelled START TRANSACTION: its tag says so
	Name       string
	Isolation  string
	ReadOnly   *bool
	Deferrable *bool
	Chain      bool
	Pos        int
}

// Set is SET or RESET of a parameter.
type Set struct {
	Name    string // lower case; "time zone" is "timezone"; "session characteristics", "transaction" likewise
	Values  []Expr // nil with Default: RESET or TO DEFAULT
	Default bool
	Reset   bool // with Default: spelled RESET, not SET … TO DEFAULT
	All     bool // RESET ALL
	Local   bool
	Pos     int
}

// Show is SHOW of a parameter, or of "all".
type Show struct {
	Name string
	Pos  int
}

// Prepare is PREPARE.
type Prepare struct {
	Name  string
	Types []TypeName
	Stmt  Stmt
	Text  string // of Stmt
	// NumParams is the highest $n of Stmt; the PREPARE itself has no parameters.
	NumParams int
	Pos       int
}

// Execute is EXECUTE.
type Execute struct {
	Name string
	Args []Expr
	Pos  int
}

// Deallocate is DEALLOCATE of one prepared statement; "" is ALL.
type Deallocate struct {
	Name string
	Pos  int
}

// Declare is DECLARE … CURSOR.
type Declare struct {
	Name                           string
	Query                          *Query
	Binary, Scroll, NoScroll, Hold bool
	Pos                            int
}

// Fetch is FETCH and MOVE. Direction: "forward", "backward", "absolute", "relative"; Count
// math.MaxInt64 for ALL.
type Fetch struct {
	Cursor    string
	Direction string
	Count     int64
	Move      bool
	Pos       int
}

// ClosePortal is CLOSE of one cursor; "" is ALL.
type ClosePortal struct {
	Name string
	Pos  int
}

// Discard is DISCARD of What: "all", "plans", "temporary", "sequences".
type Discard struct {
	What string
	Pos  int
}

// Listen is LISTEN, UNLISTEN or NOTIFY: Op is the word in lower case.
type Listen struct {
	Op, Channel string
	Pos         int
}

// Lock is LOCK TABLE.
type Lock struct {
	Tables []TableName
	Pos    int
}

// Noop is a statement that is accepted and has no effect here (CREATE EXTENSION IF NOT EXISTS,
// ANALYZE, GRANT to self …); Tag is its command tag.
type Noop struct {
	Tag    string
	Warn   string // why it has none, where the user may believe otherwise
	Notice string // the same, where nothing follows from it
	Pos    int
}

// CreateIndex is CREATE INDEX without UNIQUE: it could only make reading faster, for which tables have
// other means. So are DROP INDEX and what ALTER TABLE does with indexes alone.
type CreateIndex struct {
	Table Name
	Verb  string // the command tag, "CREATE INDEX" where it is empty
	Quiet bool   // nothing is asked for that is not there: DISABLE KEYS, ENGINE = InnoDB
	Pos   int
}

// ---- statements about the session and the server, in MySQL's words ----

// ShowInfo is SHOW, and DESCRIBE of a table. What says of what, in lower case: "tables", "columns",
// "create table", "variables" ….
type ShowInfo struct {
	What         string
	Full, Global bool
	Object       Name      // the table, view or database that it is about; no parts: none is named
	For          *RoleName // of SHOW GRANTS
	Like         *string
	Where        Expr
	// Offset and Count are the LIMIT of SHOW WARNINGS; Count -1: none.
	Offset, Count int
	Pos           int
}

// SetVariables is SET of variables, all of them or none.
type SetVariables struct {
	Items []SetVariable
	Pos   int
}

// SetVariable is name = value. Scope is "user" for @name, "global", "names" for SET NAMES (Word is the
// character set, Name the collation), else "session".
type SetVariable struct {
	Scope, Name string
	Value       Expr   // or
	Word        string // a bare word, such as ON or utf8mb4; or
	Default     bool
	Pos         int
}

// SetTransaction is SET [SESSION|GLOBAL] TRANSACTION: pairs of a variable and its value. Scope "" is
// the next transaction alone.
type SetTransaction struct {
	Scope string
	Modes [][2]string
	Pos   int
}

// Use makes a database that of unqualified names, at a ref or an instant if one is named.
type Use struct {
	Database, Ref string
	Pos           int
}

// Kill ends a connection, or with Query its statement alone.
type Kill struct {
	ID    Expr
	Text  string // of ID
	Query bool
	Pos   int
}

// Do computes expressions and forgets them.
type Do struct {
	Exprs []Expr
	Pos   int
}

// TableAdmin is ANALYZE, CHECK, OPTIMIZE, REPAIR and CHECKSUM TABLE, which Op says in lower case.
type TableAdmin struct {
	Op     string
	Tables []Name
	Pos    int
}

// PrepareText is PREPARE of a text, or of what the variable holds.
type PrepareText struct {
	Name     string
	Text     string
	Variable string
	Pos      int
}

// Idle is a statement that MySQL's clients send and that has nothing to do here; Commits: it ends the
// transaction that is open. Columns are those of its answer without rows; nil: it has none.
type Idle struct {
	Commits bool
	Columns []string
	Pos     int
}

func (*ShowInfo) stmt()       {}
func (*SetVariables) stmt()   {}
func (*SetTransaction) stmt() {}
func (*Use) stmt()            {}
func (*Kill) stmt()           {}
func (*Do) stmt()             {}
func (*TableAdmin) stmt()     {}
func (*PrepareText) stmt()    {}
func (*Idle) stmt()           {}

// Empty is the empty statement.
type Empty struct{}

func (*QueryStmt) stmt()    {}
func (*Explain) stmt()      {}
func (*Insert) stmt()       {}
func (*Update) stmt()       {}
func (*Delete) stmt()       {}
func (*Merge) stmt()        {}
func (*Truncate) stmt()     {}
func (*Copy) stmt()         {}
func (*CreateTable) stmt()  {}
func (*CreateView) stmt()   {}
func (*CreateSchema) stmt() {}
func (*Drop) stmt()         {}
func (*AlterTable) stmt()   {}
func (*Comment) stmt()      {}
func (*Procedure) stmt()    {}
func (*Transaction) stmt()  {}
func (*Set) stmt()          {}
func (*Show) stmt()         {}
func (*Prepare) stmt()      {}
func (*Execute) stmt()      {}
func (*Deallocate) stmt()   {}
func (*Declare) stmt()      {}
func (*Fetch) stmt()        {}
func (*ClosePortal) stmt()  {}
func (*Discard) stmt()      {}
func (*Listen) stmt()       {}
func (*Lock) stmt()         {}
func (*Noop) stmt()         {}
func (*CreateIndex) stmt()  {}
func (*Empty) stmt()        {}

// Parsed is one statement of a text.
type Parsed struct {
	Stmt      Stmt
	Text      string // its own text, without the semicolon
	Offset    int    // where Text begins in the whole; positions in Stmt count from Text's start
	NumParams int    // highest $n
}
