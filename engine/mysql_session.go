package engine

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/sqlfront/mysql"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// MySQLVersion is the MySQL that clients are told of.
const MySQLVersion = "8.0.36-lhsql"

// MySQLClient is what a wire knows of its client and of itself. The zero value will do.
type MySQLClient struct {
	// Variables are values of system variables that the server or the connection has, such as
	// max_connections and port.
	Variables          map[string]string
	Host               string // of user@host
	Program            string
	TLSVersion, Cipher string
	Counters           *MySQLCounters // nil: nobody counts
}

// MySQLWarning is a row of SHOW WARNINGS.
type MySQLWarning struct {
	Level  string // Note, Warning, Error
	Number uint16
	Text   string
}

// MySQL is what a session of the MySQL dialect has beside others: variables, and what its statements
// leave behind. It belongs to the session's goroutine.
type MySQL struct {
	// Warnings are those of the last statement, which the wire numbers.
	Warnings []MySQLWarning
	// Statements is how many prepared statements the wire keeps.
	Statements int
	// FoundRows: the client counts the rows that an UPDATE finds, and not those that it changes.
	FoundRows bool

	s       *Session
	client  MySQLClient
	session map[string]string // variables that differ from the defaults
	user    map[string]userVariable
	// temporary are the databases that temporary tables were made in, by the tables' names.
	temporary map[string]string
	next      [][2]string // SET TRANSACTION: for the next transaction alone
	textMode  mysql.Mode
	found     int64 // FOUND_ROWS()
	affected  int64 // ROW_COUNT()
}

// MySQL gives what a session of the MySQL dialect has; nil for others.
func (s *Session) MySQL() *MySQL { return s.my }

func newMySQL(s *Session, c MySQLClient) *MySQL {
	return &MySQL{s: s, client: c, session: s.engine.globals.copy(), user: map[string]userVariable{}, temporary: map[string]string{}}
}

// mysqlError is a user's error under MySQL's number and SQLSTATE.
func mysqlError(number uint16, state sqlerr.Code, format string, args ...any) *sqlerr.Error {
	return sqlerr.New(state, format, args...).WithNumber(number)
}

// errMaxTime ends a query at max_execution_time.
var errMaxTime = &sqlerr.Error{Code: sqlerr.QueryCanceled, Number: 3024, Pos: -1,
	Message: "Query execution was interrupted, maximum statement execution time exceeded"}

func (m *MySQL) errors() (n int) {
	for _, w := range m.Warnings {
		if w.Level == "Error" {
			n++
		}
	}
	return n
}

// MySQLCut splits a text into statements as the session reads it, without a look at what they say: a
// client hears of a statement's error after the results of those before it.
func (s *Session) MySQLCut(text string) []mysql.Piece { return mysql.Cut(text, s.my.textMode) }

// KeepsWarnings tells whether a statement leaves the warnings of the one before, which it asks for.
func KeepsWarnings(p Parsed) bool {
	n, ok := p.Stmt.(*ast.ShowInfo)
	return ok && (strings.HasSuffix(n.What, "warnings") || strings.HasSuffix(n.What, "errors"))
}

// commit ends the transaction that is open, if one is.
func (m *MySQL) commit(ctx context.Context, r *Result) error {
	if m.s.Status() == 'I' {
		return nil
	}
	_, err := m.s.transact(ctx, &ast.Transaction{Op: "commit"}, r)
	m.s.loaded, m.s.host = nil, nil
	return err
}

// before keeps MySQL's rules of transactions: DDL commits what is open, and without autocommit the
// first statement that touches data begins a transaction. acted: what was bound may mean another
// state now.
func (m *MySQL) before(ctx context.Context, st ast.Stmt, r *Result) (acted bool, err error) {
	idle := m.s.Status() == 'I'
	switch kind := KindOf(Parsed{Stmt: st}); {
	case kind == DefineKind && !idle:
		return true, m.commit(ctx, r)
	case (kind == QueryKind || kind == WriteKind) && idle && !m.Autocommit():
		_, err := m.s.transact(ctx, m.begin(&ast.Transaction{Op: "begin"}), r)
		m.s.loaded, m.s.host = nil, nil
		return true, err
	}
	return false, nil
}

// begin is a BEGIN with the modes that SET TRANSACTION has asked for, where it has none itself. The
// isolation level changes nothing: transactions read one snapshot at every level.
func (m *MySQL) begin(t *ast.Transaction) *ast.Transaction {
	if t.Op != "begin" || m.s.Status() != 'I' {
		return t
	}
	for _, kv := range m.next {
		if kv[0] == "transaction_read_only" && t.ReadOnly == nil {
			next := *t
			on := kv[1] == "ON"
			next.ReadOnly, t = &on, &next
		}
	}
	m.next = nil
	return t
}

// bounds gives a query what variables bound: its time and its rows.
func (m *MySQL) bounds(st ast.Stmt, r *Result) {
	own := false // it has a LIMIT of its own
	switch n := st.(type) {
	case *ast.QueryStmt:
		own = n.Query.Limit != nil
	case *ast.ShowInfo: // which is a query, in MySQL too
	default:
		return
	}
	if d := m.maxTime(); d > 0 {
		t := time.AfterFunc(d, func() { r.cancel(errMaxTime) })
		context.AfterFunc(r.ctx, func() { t.Stop() })
	}
	if n := m.Int("sql_select_limit"); !own && n >= 0 && n < 1<<62 {
		r.limited, r.limit = true, n
	}
}

// ended keeps what FOUND_ROWS() and ROW_COUNT() tell of a statement that is over.
func (m *MySQL) ended(r *Result, ok bool) {
	switch {
	case !ok:
		m.affected = -1
	case r.columns != nil:
		if m.affected = -1; !r.counts {
			m.found = r.rows
		}
	case r.verb == "INSERT" || r.verb == "UPDATE" || r.verb == "DELETE" || r.verb == "MERGE":
		m.affected = r.rows
	default:
		m.affected = 0
	}
}

// Failed keeps for ROW_COUNT() that a statement failed before it ran.
func (m *MySQL) Failed() { m.affected = -1 }

// last sees each batch of a query that assigns variables: they have the last row's values afterwards.
type lastRow struct {
	m      *MySQL
	list   []ast.Assigned
	values []types.Datum
	any    bool
}

func (l *lastRow) see(b *vec.Batch) {
	row := b.Len() - 1
	if b.Sel != nil {
		row = int(b.Sel[row])
	}
	for i, a := range l.list {
		if a.Column >= 0 && a.Column < len(b.Cols) {
			l.values[i], l.any = b.Cols[a.Column].Datum(row), true
		}
	}
}

// lost marks a variable whose value the query that assigned it did not show.
var lost = userVariable{typ: types.T(types.Void)}

// end gives the variables their values. Without a row they stay.
func (l *lastRow) end(cols []ResultColumn) error {
	for i, a := range l.list {
		v := lost
		if a.Column >= 0 {
			if !l.any || a.Column >= len(cols) {
				continue
			}
			v = userVariable{l.values[i], cols[a.Column].Type}
		}
		if err := l.m.keep(a.Name, v); err != nil {
			return err
		}
	}
	return nil
}

// runQuery runs a query with what MySQL's do beside giving rows.
func (m *MySQL) runQuery(ctx context.Context, n *ast.QueryStmt, st *Stmt, args []types.Datum, r *Result) error {
	if err := m.s.runPlan(ctx, st.bound.Plan, args, r); err != nil {
		return err
	}
	if len(n.Assigned) > 0 {
		r.last = &lastRow{m: m, list: n.Assigned, values: make([]types.Datum, len(n.Assigned))}
	}
	if n.CalcFound {
		r.counts = true
		r.count = func() error { return m.countFound(ctx, n, st, args) }
	}
	if n.Into != nil {
		return m.into(ctx, n.Into, st.bound.Plan.Columns(), r)
	}
	return nil
}

// countFound finds what FOUND_ROWS() is after SELECT SQL_CALC_FOUND_ROWS … LIMIT n: the number of
// rows without the LIMIT, which takes a query of its own.
func (m *MySQL) countFound(ctx context.Context, n *ast.QueryStmt, st *Stmt, args []types.Datum) error {
	all := *n.Query
	all.Limit, all.Offset, all.OrderBy = nil, nil, nil
	q := &ast.Query{Body: &ast.Select{Items: []ast.Item{{Expr: &ast.Call{Name: ast.Name{Parts: []string{"count"}}, Star: true}}},
		From: []ast.TableExpr{&ast.SubqueryTable{Query: &all, Alias: ast.Alias{Name: "counted"}}}}}
	_, rows, err := m.s.rowsOfBound(ctx, Parsed{Stmt: &ast.QueryStmt{Query: q}, Text: st.parsed.Text, NumParams: st.parsed.NumParams}, st.params, args)
	if err == nil && len(rows) == 1 {
		m.found = rows[0][0].Int()
	}
	return err
}

// into is SELECT … INTO @a, @b: the one row of the query goes into variables.
func (m *MySQL) into(ctx context.Context, names []string, cols []plan.Column, r *Result) error {
	src := r.src
	r.src, r.verb, r.counted = nil, "SELECT", false
	defer src.Close()
	if len(cols) != len(names) {
		return mysqlError(1222, "21000", "The used SELECT statements have a different number of columns")
	}
	var row []types.Datum
	for {
		b, err := src.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		for k := range b.Len() {
			if row != nil {
				return mysqlError(1172, "42000", "Result consisted of more than one row")
			}
			if b.Sel != nil {
				k = int(b.Sel[k])
			}
			row = []types.Datum{}
			for _, v := range b.Cols {
				row = append(row, v.Datum(k))
			}
		}
	}
	if row == nil {
		w := mysqlError(1329, "01329", "No data - zero rows fetched, selected, or processed")
		r.notices = append(r.notices, w)
		return nil
	}
	for i, name := range names {
		if err := m.keep(name, userVariable{row[i], cols[i].Type}); err != nil {
			return err
		}
	}
	return nil
}

// value computes one expression.
func (m *MySQL) value(ctx context.Context, x ast.Expr) (userVariable, error) {
	cols, rows, err := m.s.rowsOf(ctx, &ast.Query{Body: &ast.Select{Items: []ast.Item{{Expr: x, Alias: "x"}}}})
	switch {
	case err != nil:
		return userVariable{}, err
	case len(cols) != 1:
		return userVariable{}, mysqlError(1241, "21000", "Operand should contain 1 column(s)")
	case len(rows) > 1:
		return userVariable{}, mysqlError(1242, "21000", "Subquery returns more than 1 row")
	case len(rows) == 0:
		return userVariable{types.Null, cols[0].Type}, nil
	}
	return userVariable{rows[0][0], cols[0].Type}, nil
}

// rowsOf runs a query of the session's own within a statement.
func (s *Session) rowsOf(ctx context.Context, q *ast.Query) ([]ResultColumn, [][]types.Datum, error) {
	return s.rowsOfBound(ctx, Parsed{Stmt: &ast.QueryStmt{Query: q}}, nil, nil)
}

func (s *Session) rowsOfBound(ctx context.Context, p Parsed, params []types.Type, args []types.Datum) ([]ResultColumn, [][]types.Datum, error) {
	b, err := bind.Bind(s.bindEnv(ctx, args), p, params)
	if err != nil {
		return nil, nil, err
	}
	if len(b.Params) != len(args) {
		return nil, nil, sqlerr.New(sqlerr.SyntaxError, "a parameter cannot stand here")
	}
	if err := s.mayRun(ctx, b); err != nil {
		return nil, nil, err
	}
	r := &Result{session: s}
	if err := s.runPlan(ctx, b.Plan, args, r); err != nil {
		return nil, nil, err
	}
	var rows [][]types.Datum
	for {
		batch, err := r.src.Next(ctx)
		if err != nil {
			r.src.Close()
			return nil, nil, err
		}
		if batch == nil {
			return b.Columns, rows, r.src.Close()
		}
		for k := range batch.Len() {
			if batch.Sel != nil {
				k = int(batch.Sel[k])
			}
			row := make([]types.Datum, len(batch.Cols))
			for j, v := range batch.Cols {
				row[j] = v.Datum(k)
			}
			rows = append(rows, row)
		}
	}
}

// prepare is Session.prepare of the statements that are MySQL's; known false: it is none of them.
func (m *MySQL) prepare(ctx context.Context, st *Stmt) (known bool, err error) {
	switch n := st.parsed.Stmt.(type) {
	case *ast.ShowInfo:
		v, err := m.show(ctx, n)
		if err != nil {
			return true, err
		}
		st.shown = v
		if st.columns = v.columns(); v.query != nil {
			p := st.parsed
			p.Stmt = &ast.QueryStmt{Query: v.query}
			if st.bound, err = bind.Bind(m.s.bindEnv(ctx, nil), p, nil); err != nil {
				return true, err
			}
			if st.columns = st.bound.Columns; len(st.bound.Params) > 0 {
				return true, sqlerr.New(sqlerr.SyntaxError, "a parameter cannot stand here")
			}
		}
		return true, nil
	case *ast.TableAdmin:
		names := []string{"Table", "Op", "Msg_type", "Msg_text"}
		if n.Op == "checksum" {
			names = []string{"Table", "Checksum"}
		}
		st.columns = (&shown{names: names}).columns()
		return true, nil
	case *ast.Idle:
		if n.Columns != nil {
			st.columns = (&shown{names: n.Columns}).columns()
		}
		return true, nil
	case *ast.Execute:
		p, err := m.s.preparedSQL(n.Name)
		if err != nil {
			return true, mysqlError(1243, "HY000", "Unknown prepared statement handler (%s) given to EXECUTE", n.Name)
		}
		st.columns = p.stmt.columns
		return true, nil
	case *ast.SetVariables, *ast.SetTransaction, *ast.Use, *ast.Kill, *ast.Do, *ast.PrepareText:
		return true, nil
	}
	return false, m.unsafe(st.parsed.Stmt)
}

// dispatch is Session.dispatch of the statements that are MySQL's.
func (m *MySQL) dispatch(ctx context.Context, st *Stmt, args []types.Datum, r *Result) (known bool, err error) {
	switch n := st.parsed.Stmt.(type) {
	case *ast.QueryStmt:
		r.verb, r.counted = "SELECT", true
		return true, m.runQuery(ctx, n, st, args, r)
	case *ast.Transaction:
		r.verb, err = m.s.transact(ctx, m.begin(n), r)
		return true, err
	case *ast.ShowInfo:
		r.verb = "SHOW"
		if st.bound != nil {
			return true, m.s.runPlan(ctx, st.bound.Plan, nil, r)
		}
		r.src = rowsSource(st.columns, st.shown.rows)
		return true, nil
	case *ast.SetVariables:
		r.verb = "SET"
		return true, m.setVariables(ctx, n, r)
	case *ast.SetTransaction:
		r.verb = "SET"
		return true, m.setTransaction(ctx, n, r)
	case *ast.Use:
		r.verb = "USE"
		name := n.Database
		if n.Ref != "" {
			name += "@" + n.Ref
		}
		return true, m.s.Use(ctx, name)
	case *ast.Kill:
		r.verb = "KILL"
		return true, m.kill(ctx, n)
	case *ast.Do:
		r.verb = "DO"
		for _, x := range n.Exprs {
			if _, err := m.value(ctx, x); err != nil {
				return true, err
			}
		}
		return true, nil
	case *ast.TableAdmin:
		r.verb = strings.ToUpper(n.Op)
		rows, err := m.tableAdmin(ctx, n, r)
		r.src = rowsSource(st.columns, rows)
		return true, err
	case *ast.Idle:
		r.verb = "OK"
		if n.Columns != nil {
			r.src = rowsSource(st.columns, nil)
		}
		if n.Commits {
			return true, m.commit(ctx, r)
		}
		return true, nil
	case *ast.PrepareText:
		r.verb = "PREPARE"
		return true, m.prepareText(ctx, n)
	case *ast.Execute:
		return true, m.execute(ctx, n, r)
	case *ast.Deallocate:
		r.verb = "DEALLOCATE PREPARE"
		if m.s.prepared[n.Name] == nil {
			return true, mysqlError(1243, "HY000", "Unknown prepared statement handler (%s) given to DEALLOCATE PREPARE", n.Name)
		}
		m.s.ForgetPrepared(n.Name)
		return true, nil
	}
	return false, nil
}

func (m *MySQL) kill(ctx context.Context, n *ast.Kill) error {
	v, err := m.value(ctx, n.ID)
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(m.textOf(v), 10, 64)
	if v.value.IsNull() || err != nil {
		return mysqlError(1094, "HY000", "Unknown thread id: %s", n.Text)
	}
	return m.Kill(id, n.Query)
}

// Kill ends the session with the number, or its statement alone.
func (m *MySQL) Kill(id int64, statementOnly bool) error {
	if other := m.s.engine.session(int32(min(max(id, 0), 1<<31-1))); other != nil && other != m.s {
		if err := m.s.signals(context.Background(), other); err != nil {
			return mysqlError(1095, "HY000", "You are not owner of thread %d", id)
		}
	}
	if id <= 0 || id > 1<<31-1 || !m.s.engine.Kill(int32(id), statementOnly) {
		return mysqlError(1094, "HY000", "Unknown thread id: %d", id)
	}
	if int32(id) == m.s.pid {
		return mysqlError(1317, "70100", "Query execution was interrupted")
	}
	return nil
}

// tableAdmin answers ANALYZE, CHECK, OPTIMIZE, REPAIR and CHECKSUM TABLE: Iceberg keeps its
// statistics with its files, and OPTIMIZE compacts.
func (m *MySQL) tableAdmin(ctx context.Context, n *ast.TableAdmin, r *Result) ([][]types.Datum, error) {
	var rows [][]types.Datum
	for _, t := range n.Tables {
		db, table := strings.Join(t.Parts[:len(t.Parts)-1], "."), t.Parts[len(t.Parts)-1]
		if db == "" {
			db = m.s.current
		}
		full := db + "." + table
		known, err := m.exists(ctx, db, table)
		if err != nil {
			return nil, err
		}
		switch {
		case n.Op == "checksum":
			rows = append(rows, []types.Datum{types.NewStr(full), types.Null})
		case !known:
			rows = append(rows, texts([]string{full, n.Op, "Error", "Table '" + full + "' doesn't exist"}, []string{full, n.Op, "status", "Operation failed"})...)
		case n.Op == "analyze" && !m.s.tx.block:
			c := bind.Constant{Value: types.NewStr(m.s.names().quote(db) + "." + m.s.names().quote(table)), Typ: types.T(types.Text)}
			if err := m.s.analyze(ctx, &bind.ProcedureCall{Args: []bind.ProcedureArg{{Name: "table", Constant: c}}}, r); err != nil {
				return nil, err
			}
			rows = append(rows, texts([]string{full, n.Op, "status", "OK"})...)
		case n.Op == "analyze" || n.Op == "check":
			rows = append(rows, texts([]string{full, n.Op, "status", "OK"})...)
		case n.Op == "optimize":
			said, err := m.s.optimize(ctx, t.Parts, r)
			e, ok := sqlerr.As(err)
			switch {
			case err != nil && (!ok || ctx.Err() != nil):
				return nil, err
			case err != nil:
				rows = append(rows, texts([]string{full, n.Op, "Error", e.Message}, []string{full, n.Op, "status", "Operation failed"})...)
				continue
			case said != "":
				rows = append(rows, texts([]string{full, n.Op, "note", said})...)
			}
			rows = append(rows, texts([]string{full, n.Op, "status", "OK"})...)
		default:
			rows = append(rows, texts([]string{full, n.Op, "note", "The storage engine for the table doesn't support repair"})...)
		}
	}
	return rows, nil
}

// maxMySQLStatements bounds the statements that PREPARE keeps.
const maxMySQLStatements = 16_382

func (m *MySQL) prepareText(ctx context.Context, n *ast.PrepareText) error {
	s, text := m.s, n.Text
	if n.Variable != "" {
		u := m.user[n.Variable]
		if text = "NULL"; !u.value.IsNull() {
			text = m.textOf(u)
		}
	}
	list, err := s.Parse(text)
	if err != nil {
		return err
	}
	if _, empty := list[0].Stmt.(*ast.Empty); empty || len(list) != 1 {
		return mysqlError(1064, "42000", "You have an error in your SQL syntax; PREPARE takes one statement")
	}
	if len(s.prepared) >= maxMySQLStatements {
		return mysqlError(1461, "42000", "Can't create more than max_prepared_stmt_count statements (current value: %d)", maxMySQLStatements)
	}
	if _, nested := list[0].Stmt.(*ast.PrepareText); nested {
		return mysqlError(1295, "HY000", "This command is not supported in the prepared statement protocol yet")
	}
	st, err := s.prepareUntyped(ctx, list[0])
	if err != nil {
		return err
	}
	held := StatementCost(text)
	if err := s.Hold(held); err != nil {
		return err
	}
	if passwordIn(st.parsed.Stmt) {
		text = hiddenText
	}
	s.ForgetPrepared(n.Name)
	s.prepared[n.Name] = &preparedSQL{stmt: st, text: text, at: time.Now(), fromSQL: true, held: held}
	return nil
}

// execute is EXECUTE … USING: the statement is bound with the types that the variables have, so that
// the dialect's rules decide what they mean.
func (m *MySQL) execute(ctx context.Context, n *ast.Execute, r *Result) error {
	p, err := m.s.preparedSQL(n.Name)
	if err != nil {
		return err
	}
	if len(n.Args) != len(p.stmt.params) {
		return mysqlError(1210, "HY000", "Incorrect arguments to EXECUTE")
	}
	st := p.stmt
	args := make([]types.Datum, len(n.Args))
	given := make([]types.Type, len(n.Args))
	for i, a := range n.Args {
		v, err := m.value(ctx, a)
		if err != nil {
			return err
		}
		if given[i] = v.typ; v.typ.Kind == types.Unknown {
			given[i] = types.T(types.Text)
		}
		args[i] = v.value
		if v.value.IsNull() {
			given[i] = st.params[i]
		}
	}
	if _, err := m.before(ctx, st.parsed.Stmt, r); err != nil {
		return err
	}
	if st, err = m.s.prepare(ctx, st.parsed, given); err != nil {
		return err
	}
	r.columns = st.columns
	if st.columns == nil {
		r.columns = nil
	}
	m.bounds(st.parsed.Stmt, r)
	return m.s.dispatch(ctx, st, args, nil, r)
}

// PrepareUntyped is Prepare of a statement whose parameters may have no type: one that nothing gives a
// type (? IS NULL) is a string until its value comes.
func (s *Session) PrepareUntyped(ctx context.Context, p Parsed) (*Stmt, error) {
	return untypedBy(ctx, p, s.Prepare)
}

func (s *Session) prepareUntyped(ctx context.Context, p Parsed) (*Stmt, error) {
	return untypedBy(ctx, p, s.prepare)
}

func untypedBy(ctx context.Context, p Parsed, prepare func(context.Context, Parsed, []types.Type) (*Stmt, error)) (*Stmt, error) {
	st, err := prepare(ctx, p, nil)
	given := untypedParams(p)
	for range given {
		i := untyped(err)
		if i < 1 || i > len(given) {
			break
		}
		given[i-1] = types.T(types.Text)
		st, err = prepare(ctx, p, given)
	}
	return st, err
}

func untypedParams(p Parsed) []types.Type {
	given := make([]types.Type, p.NumParams)
	for i := range given {
		given[i] = types.T(types.Unknown)
	}
	return given
}

// untyped is the number of the parameter whose type err says it could not find; 0: err is another.
func untyped(err error) (n int) {
	if e, ok := sqlerr.As(err); ok && e.Code == sqlerr.IndeterminateDatatype {
		if i := strings.LastIndexByte(e.Message, '$'); i >= 0 {
			n, _ = strconv.Atoi(e.Message[i+1:])
		}
	}
	return n
}
