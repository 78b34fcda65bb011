// Package syscat answers: what do pg_catalog and information_schema say of this lakehouse?
//
// Every system table of PostgreSQL 15 is here with all its columns (columns_gen.txt); those that
// have something to say compute their rows from a Host when they are read. In: a Host, the names
// of a table. Out: plan.VirtualTable, so that clients' catalog queries run through the same
// engine as any other. It refuses to know sessions, wires and how a query is run.
package syscat

import (
	"context"
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// Host is what the catalogs describe: one database as one session sees it. Methods may be called
// many times in one statement; the Host caches.
type Host interface {
	// KeepDefinition remembers pg_get_constraintdef of a constraint that a row was made for.
	KeepDefinition(oid uint32, text string)
	// KeepKey remembers the table and name of a key whose constraint or index a row was made for;
	// KeptKey and KeptKeyName find them by OID.
	KeepKey(oid uint32, schema, table, name string)
	KeptKey(oid uint32) (schema, table string, ok bool)
	KeptKeyName(oid uint32) string
	Database() string
	Databases() []string
	User() string
	Users() []string
	// Lock is what is known of roles and privileges; nil where the lock is off.
	Lock(ctx context.Context) (*Lock, error)
	Namespaces(ctx context.Context) ([]string, error)
	// Entries lists the tables and views of a namespace, names only: cheap for thousands.
	Entries(ctx context.Context, namespace string) ([]Entry, error)
	// Relation loads one of them.
	Relation(ctx context.Context, namespace, name string) (*Relation, error)
	Settings() []Setting
	Sessions() []Session
	Prepared() []Prepared
	Cursors() []Cursor
	Started() time.Time
	// TempBytes is what statements have written to temporary files since the start.
	TempBytes() int64
	// Names gives the enumeration that the Host keeps, or what enumerate makes. The Host keeps it
	// while it keeps what Namespaces and Entries say, of which it is made.
	Names(ctx context.Context, enumerate func() (Names, error)) (*Names, error)
}

// Entry is a table or view by name.
type Entry struct {
	Name string
	View bool
}

// Relation is a table or view in full.
type Relation struct {
	Entry
	Columns []Column
	Keys    []Key // the primary key first
	Checks  []Check
	Foreign []Foreign
	// Referenced: foreign keys of other tables name this one.
	Referenced bool
	Comment    string
	Partition  string // the partition spec as text, "" when unpartitioned
	Rows       int64  // of the current snapshot; -1 unknown
	Bytes      int64
	Updated    time.Time // the current snapshot's; zero: none
	SQL        string    // a view's query
	Reads      []uint32  // OIDs of the relations that a view's query names
	Options    []string  // key=value
}

// Check is a CHECK constraint: SQL in PostgreSQL's dialect unless MySQL, and the columns that it
// names, as attribute numbers.
type Check struct {
	Name, SQL          string
	Columns            []int
	MySQL, NotEnforced bool
	NotValid           bool // rows of before it was added may break it
}

// Definition is pg_get_constraintdef of c. Parentheses around the whole text are the ones that it
// adds, so that a definition which is taken for a new constraint's text stays the same.
func (c Check) Definition() string {
	text := strings.TrimSpace(c.SQL)
	for enclosed(text, c.MySQL) {
		text = strings.TrimSpace(text[1 : len(text)-1])
	}
	def := "CHECK ((" + text + "))"
	switch {
	case c.NotEnforced:
		def += " NOT ENFORCED"
	case c.NotValid:
		def += " NOT VALID"
	}
	return def
}

// enclosed tells whether the parenthesis that text begins with closes at its end. Where it cannot
// tell (comments, other quotes), it says no.
func enclosed(text string, mysql bool) bool {
	if len(text) < 2 || text[0] != '(' || text[len(text)-1] != ')' ||
		strings.Contains(text, "--") || strings.Contains(text, "/*") || strings.ContainsAny(text, "\\$#") {
		return false
	}
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`' && mysql:
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 && i < len(text)-1 {
				return false
			}
		}
	}
	return depth == 0 && quote == 0
}

// Column is a column of a Relation; its attribute number is its position.
type Column struct {
	Name    string
	Type    types.Type
	NotNull bool
	Default string // SQL text, "" none
	Comment string
	// Expression: Default is evaluated for each row or statement; MySQLDefault: in MySQL's dialect.
	Expression, MySQLDefault bool
	OnUpdate                 string // MySQL's ON UPDATE, "" none
	// Identity is "always", "default" or "auto_increment" where the column numbers its rows, from
	// IdentityNext on by IdentityStep; "" where it does not.
	Identity                   string
	IdentityNext, IdentityStep int64
	// Generated is the expression of a generated column, "" for others: as MySQLDefault says, like
	// Default. Virtual: it was declared so.
	Generated string
	Virtual   bool
}

// defining is what pg_attrdef keeps of a column: its default, or what it is generated by.
func (c Column) defining() string {
	if c.Generated != "" {
		return c.Generated
	}
	return c.Default
}

// Setting, Session, Prepared and Cursor are rows of pg_settings, pg_stat_activity,
// pg_prepared_statements and pg_cursors.
type Setting struct {
	Name, Value, Default, Kind, Doc string
	Enum                            []string
	Fixed                           bool
}
type Session struct {
	PID                                        int32
	User, Database, App, Address, State, Query string
	Start, QueryStart, StateChange, TxStart    time.Time
	UserOID                                    uint32
	Hidden                                     bool // what it does is not for this session to see
}
type Prepared struct {
	Name, Text string
	Params     []types.Type
	Time       time.Time
	FromSQL    bool
}
type Cursor struct {
	Name, Text   string
	Hold, Scroll bool
}

//go:embed columns_gen.txt
var columnsText string

// def is a system table's shape.
type def struct {
	schema, name string
	oid          uint32
	view         bool
	fields       []types.Field
	index        map[string]int
}

var defs = sync.OnceValue(func() map[string]*def {
	m := map[string]*def{}
	for _, line := range strings.Split(strings.TrimSpace(columnsText), "\n") {
		w := strings.Fields(line)
		oid, _ := strconv.ParseUint(w[2], 10, 32)
		d := &def{schema: w[0], name: w[1], oid: uint32(oid), view: w[3] == "v", index: map[string]int{}}
		for i, c := range w[4:] {
			name, typ, _ := strings.Cut(c, ":")
			d.fields = append(d.fields, types.Field{Name: name, Type: columnType(typ)})
			d.index[name] = i
		}
		m[d.schema+"."+d.name] = d
	}
	return m
})

// columnType is the type of a system column; PostgreSQL's internal ones are text that shows as
// themselves.
func columnType(name string) types.Type {
	if elem, ok := strings.CutPrefix(name, "_"); ok {
		return types.ArrayOf(columnType(elem))
	}
	if t, ok := types.TextAs(name); ok {
		return t
	}
	t, _ := types.FromPGName(name)
	return t
}

// Virtual is a system table; it implements plan.VirtualTable and plan.ColumnTable.
type Virtual struct {
	def   *def
	host  Host
	mysql MySQLHost // instead of host, for a table of MySQL's
	rows  rowsFunc
}

// rowsFunc makes the rows of one table.
type rowsFunc func(ctx context.Context, q *query) error

// makers are the tables that have rows.
var makers = map[string]rowsFunc{}

// Table finds a system table; ok is false when there is none of the name.
func Table(h Host, schema, name string) (*Virtual, bool) {
	d := defs()[schema+"."+name]
	if d == nil {
		return nil, false
	}
	return &Virtual{def: d, host: h, rows: makers[schema+"."+name]}, true
}

func (v *Virtual) OID() uint32           { return v.def.oid }
func (v *Virtual) Name() string          { return v.def.schema + "." + v.def.name }
func (v *Virtual) Fields() []types.Field { return v.def.fields }

// Rows implements plan.VirtualTable.
func (v *Virtual) Rows(ctx context.Context, equal map[int]types.Datum, yield func([]types.Datum) error) error {
	ask := plan.Ask{Equal: map[int][]types.Datum{}}
	for i, d := range equal {
		ask.Equal[i] = []types.Datum{d}
	}
	return v.RowsOf(ctx, ask, yield)
}

// Size implements plan.SizedTable.
func (v *Virtual) Size() plan.Size {
	if v.rows == nil {
		return plan.Size{Rows: 1, Work: 1}
	}
	s := sizes[strings.ToLower(v.Name())]
	if s == nil {
		return plan.Size{Rows: 100, Work: 100}
	}
	out := plan.Size{Rows: s.rows, Work: s.work}
	for _, k := range s.keys {
		if i, ok := v.def.index[k]; ok {
			out.Keys = append(out.Keys, i)
		}
	}
	return out
}

// RowsOf implements plan.ColumnTable.
func (v *Virtual) RowsOf(ctx context.Context, ask plan.Ask, yield func([]types.Datum) error) error {
	if v.rows == nil {
		return nil
	}
	q := &query{def: v.def, host: v.host, mysql: v.mysql, ask: ask, yield: yield}
	if ask.Need != nil {
		q.need = map[int]bool{}
		for _, i := range ask.Need {
			q.need[i] = true
		}
	}
	return v.rows(ctx, q)
}

// query is one reading of a system table.
type query struct {
	def   *def
	host  Host
	mysql MySQLHost
	need  map[int]bool // nil: all
	ask   plan.Ask
	yield func([]types.Datum) error

	out    []types.Datum // the row that is yielded, again and again
	layout layout
}

// layout remembers where the columns that a maker names belong: it names the same ones, from the
// same place, for every row.
type layout struct {
	names []string
	at    []int // -1: nobody reads it
}

// needs tells whether one of the columns is read.
func (q *query) needs(names ...string) bool {
	if q.need == nil {
		return true
	}
	for _, n := range names {
		if q.need[q.def.index[n]] {
			return true
		}
	}
	return false
}

// wantStr gives the one constant that the query compares a column with.
func (q *query) wantStr(name string) (string, bool) {
	if l := q.ask.Equal[q.def.index[name]]; len(l) == 1 && l[0].Form() == types.FormStr {
		return l[0].Str(), true
	}
	return "", false
}

func (q *query) wantOID(name string) (uint32, bool) {
	if l := q.ask.Equal[q.def.index[name]]; len(l) == 1 && l[0].Form() == types.FormI64 {
		return uint32(l[0].Int()), true
	}
	return 0, false
}

// may tells whether a row with the value in the column may be wanted.
func (q *query) may(name string, value any) bool {
	return q.ask.May == nil || q.ask.May(q.def.index[name], datum(value))
}

// among tells of which entries the names may be wanted in the column.
func (q *query) among(name string, list []Entry) []bool {
	d := make([]types.Datum, len(list))
	for i, e := range list {
		d[i] = types.NewStr(e.Name)
	}
	at := q.def.index[name]
	if q.ask.Among != nil {
		return q.ask.Among(at, d)
	}
	out := make([]bool, len(list))
	for i := range d {
		out[i] = q.ask.May == nil || q.ask.May(at, d[i])
	}
	return out
}

// row yields one row; kv are column names and values: string, bool, int kinds, float, time,
// []string, types.Datum, nil. Columns not named are NULL.
func (q *query) row(kv ...any) error {
	if !q.layout.is(kv) {
		q.lay(kv)
	}
	for i, at := range q.layout.at {
		if at >= 0 {
			q.out[at] = datum(kv[2*i+1])
		}
	}
	return q.yield(q.out)
}

// is tells whether l is the layout of kv. The names are constants of the code, so that comparing
// them is comparing pointers.
func (l *layout) is(kv []any) bool {
	if len(l.names)*2 != len(kv) {
		return false
	}
	for i, n := range l.names {
		if kv[2*i].(string) != n {
			return false
		}
	}
	return true
}

func (q *query) lay(kv []any) {
	q.out = make([]types.Datum, len(q.def.fields))
	q.layout = layout{}
	for i := 0; i+1 < len(kv); i += 2 {
		name := kv[i].(string)
		at, ok := q.def.index[name]
		if !ok {
			panic("syscat: " + q.def.name + " has no column " + name)
		}
		if q.need != nil && !q.need[at] {
			at = -1
		}
		q.layout.names, q.layout.at = append(q.layout.names, name), append(q.layout.at, at)
	}
}

func datum(v any) types.Datum {
	switch v := v.(type) {
	case nil:
		return types.Null
	case types.Datum:
		return v
	case string:
		return types.NewStr(v)
	case bool:
		return types.NewBool(v)
	case int:
		return types.NewInt(int64(v))
	case int16:
		return types.NewInt(int64(v))
	case int32:
		return types.NewInt(int64(v))
	case int64:
		return types.NewInt(v)
	case uint32:
		return types.NewInt(int64(v))
	case float64:
		return types.NewFloat(v)
	case time.Time:
		if v.IsZero() {
			return types.Null
		}
		return types.NewInt(v.UnixMicro())
	case []string:
		l := make([]types.Datum, len(v))
		for i := range v {
			l[i] = types.NewStr(v[i])
		}
		return types.NewList(l)
	case []int:
		l := make([]types.Datum, len(v))
		for i := range v {
			l[i] = types.NewInt(int64(v[i]))
		}
		return types.NewList(l)
	}
	panic("syscat: value of a strange type")
}

// opt is s, NULL when empty.
func opt(s string) any {
	if s == "" {
		return nil
	}
	return s
}
