package mysql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// local recognises the statements that are about the session and the server, and not about data.
// nil: the statement is the engine's.
func (c *conn) local(p *piece) (*local, error) {
	if err := c.blocked(p); err != nil {
		return nil, err
	}
	unsupported := func(what string) (*local, error) {
		return nil, wireError(1235, "42000", "This version doesn't yet support '%s'", what)
	}
	switch p.word(0) {
	case "show":
		return c.show(p)
	case "set":
		return c.set(p)
	case "use":
		return c.useStatement(p)
	case "desc", "describe", "explain":
		return c.describeTable(p)
	case "kill":
		return c.killStatement(p)
	case "do":
		return &local{run: func() error { _, _, err := c.value("(" + p.from(1) + ")"); return err }}, nil
	case "help":
		return &local{names: []string{"name", "is_it_category"}, rows: [][]any{}}, nil
	case "lock", "unlock":
		if w := p.word(1); w == "tables" || w == "table" {
			// Commits are checked for conflicts instead. LOCK TABLES ends a transaction in MySQL.
			return &local{run: func() error {
				if p.word(0) == "lock" && c.sess.Status() != 'I' {
					return c.do("COMMIT")
				}
				return nil
			}}, nil
		}
		return unsupported("LOCK INSTANCE")
	case "flush":
		if p.words(1, "status") || p.words(1, "privileges") || p.words(1, "tables") || p.words(1, "logs") || p.words(1, "hosts") || p.words(1, "local") {
			return &local{}, nil
		}
		return unsupported("FLUSH " + strings.ToUpper(p.word(1)))
	case "reset":
		return unsupported("RESET")
	case "analyze", "check", "optimize", "repair", "checksum":
		return c.tableAdmin(p)
	case "prepare":
		return c.sqlPrepare(p)
	case "execute":
		return nil, nil // the caller runs it: its rows are a statement's of their own
	case "deallocate":
		return c.sqlDeallocate(p, 1)
	case "drop":
		if p.word(1) == "prepare" {
			return c.sqlDeallocate(p, 1)
		}
		switch p.word(1) {
		case "user", "role", "function", "procedure", "trigger", "event", "server":
			return unsupported("DROP " + strings.ToUpper(p.word(1)))
		}
	case "create", "alter":
		switch p.word(1) {
		case "user", "role", "server", "trigger", "event", "function", "procedure", "definer", "tablespace", "spatial", "fulltext", "instance":
			return unsupported(strings.ToUpper(p.word(0) + " " + p.word(1)))
		}
	case "grant", "revoke":
		return nil, wireError(1235, "42000", "This version doesn't yet support '%s'; users are in the server's configuration", strings.ToUpper(p.word(0)))
	case "select", "with", "table", "values":
		if l := c.selectInto(p); l != nil {
			return l, nil
		}
	case "handler", "install", "uninstall", "xa", "clone", "restart", "shutdown", "cache", "binlog", "change", "purge", "stop", "import", "signal", "resignal", "get":
		return unsupported(strings.ToUpper(p.word(0)))
	}
	return nil, nil
}

// blocked refuses what would reach the server's files.
func (c *conn) blocked(p *piece) error {
	refuse := func(what string) error {
		return wireError(1290, "HY000", "%s is not allowed: the server reads and writes no files for its clients", what)
	}
	if p.word(0) == "load" {
		return refuse("LOAD " + strings.ToUpper(p.word(1)))
	}
	for k := range p.toks {
		switch p.word(k) {
		case "outfile", "dumpfile":
			if p.word(k-1) == "into" {
				return refuse("INTO " + strings.ToUpper(p.word(k)))
			}
		case "load_file":
			if k+1 < len(p.toks) && p.toks[k+1].sign("(") {
				return refuse("LOAD_FILE()")
			}
		}
	}
	return nil
}

// use makes a database the one of unqualified names.
func (c *conn) use(name string) error {
	err := c.sess.Use(c.ctx, name)
	c.sess.EndImplicit(c.ctx)
	return err
}

func (c *conn) useStatement(p *piece) (*local, error) {
	if len(p.toks) < 2 || !p.toks[1].isName() {
		return nil, nearError(p.text, p.toks[0].end)
	}
	name, k := p.toks[1].value, 2
	for k+1 < len(p.toks) && (p.toks[k].sign(".") && p.toks[k+1].isName()) {
		name += "." + p.toks[k+1].value
		k += 2
	}
	if k < len(p.toks) && p.toks[k].kind == tokVariable { // USE db@ref
		name += "@" + p.toks[k].value
		k++
	}
	if k != len(p.toks) {
		return nil, nearError(p.text, p.toks[k].pos)
	}
	return &local{run: func() error { return c.use(name) }}, nil
}

func (c *conn) killStatement(p *piece) (*local, error) {
	k, only := 1, false
	switch p.word(1) {
	case "query":
		k, only = 2, true
	case "connection":
		k = 2
	}
	if k >= len(p.toks) {
		return nil, nearError(p.text, len(p.text))
	}
	expr := p.from(k)
	return &local{run: func() error {
		d, t, err := c.value(expr)
		if err != nil {
			return err
		}
		id, err := strconv.ParseInt(string(textOf(d, t, c.sess.TextOptions())), 10, 64)
		if d.IsNull() || err != nil {
			return wireError(1094, "HY000", "Unknown thread id: %s", expr)
		}
		return c.kill(id, only)
	}}, nil
}

// tableName reads [db.]table at token k; next is the token after it.
func (c *conn) tableName(p *piece, k int) (db, table string, next int, err error) {
	var parts []string
	for {
		if k >= len(p.toks) || !p.toks[k].isName() {
			pos := len(p.text)
			if k < len(p.toks) {
				pos = p.toks[k].pos
			}
			return "", "", k, nearError(p.text, pos)
		}
		parts = append(parts, p.toks[k].value)
		if k++; k >= len(p.toks) || !p.toks[k].sign(".") {
			break
		}
		k++
	}
	n := len(parts) - 1
	return strings.Join(parts[:n], "."), parts[n], k, nil
}

// tableAdmin answers ANALYZE, CHECK, OPTIMIZE, REPAIR and CHECKSUM TABLE: Iceberg keeps its
// statistics with its files, and maintenance has procedures of its own.
func (c *conn) tableAdmin(p *piece) (*local, error) {
	k := 1
	for p.word(k) == "no_write_to_binlog" || p.word(k) == "local" {
		k++
	}
	if p.word(k) != "table" && p.word(k) != "tables" {
		return nil, nil
	}
	op := p.word(0)
	l := &local{names: []string{"Table", "Op", "Msg_type", "Msg_text"}, rows: [][]any{}}
	var compact []string
	if op == "checksum" {
		l.names = []string{"Table", "Checksum"}
	}
	for k++; ; k++ {
		db, table, next, err := c.tableName(p, k)
		if err != nil {
			return nil, err
		}
		if db == "" {
			db = c.sess.CurrentDatabase()
		}
		full := db + "." + table
		known, err := c.exists(db, table)
		if err != nil {
			return nil, err
		}
		switch {
		case op == "checksum":
			l.rows = append(l.rows, []any{full, nil})
		case !known:
			l.rows = append(l.rows, []any{full, op, "Error", "Table '" + full + "' doesn't exist"}, []any{full, op, "status", "Operation failed"})
		case op == "analyze" || op == "check":
			l.rows = append(l.rows, []any{full, op, "status", "OK"})
		case op == "optimize":
			compact = append(compact, full)
		default:
			l.rows = append(l.rows, []any{full, op, "note", "The storage engine for the table doesn't support repair"})
		}
		k = next
		switch {
		case op == "optimize" && k < len(p.toks) && !p.toks[k].sign(","):
			return nil, nil // OPTIMIZE TABLE t WHERE …: the engine's own statement
		case k >= len(p.toks) || !p.toks[k].sign(","):
			if len(compact) > 0 {
				l.run = func() error { return c.optimize(l, compact) }
			}
			return l, nil
		}
	}
}

// quotedName spells a dotted name so that each part is one.
func quotedName(name string) string {
	parts := strings.Split(name, ".")
	for i := range parts {
		parts[i] = "`" + strings.ReplaceAll(parts[i], "`", "``") + "`"
	}
	return strings.Join(parts, ".")
}

// optimize compacts tables and says of each what was done, as MySQL's OPTIMIZE TABLE does.
func (c *conn) optimize(l *local, tables []string) error {
	for _, t := range tables {
		var done []types.Datum
		err := c.sess.Query(c.ctx, "OPTIMIZE TABLE "+quotedName(t), nil, func(row []types.Datum) error {
			done = slices.Clone(row)
			return nil
		})
		e, ok := sqlerr.As(err)
		switch {
		case err != nil && !ok:
			return err
		case err != nil && c.ctx.Err() != nil:
			return err
		case err != nil:
			l.rows = append(l.rows, []any{t, "optimize", "Error", e.Message}, []any{t, "optimize", "status", "Operation failed"})
			continue
		}
		if len(done) > 1 && done[0].Int() > 0 {
			l.rows = append(l.rows, []any{t, "optimize", "note", fmt.Sprintf("%d data files were rewritten as %d", done[0].Int(), done[1].Int())})
		}
		l.rows = append(l.rows, []any{t, "optimize", "status", "OK"})
	}
	return nil
}

// statistics is COM_STATISTICS, as the clients' `status` prints it.
func (c *conn) statistics() string {
	s := c.srv
	up := int64(time.Since(s.start).Seconds())
	q := s.count.questions.Load()
	now, _ := s.door.Sessions()
	return "Uptime: " + itoa(up) + "  Threads: " + itoa(int64(now)) + "  Questions: " + itoa(q) +
		"  Slow queries: " + itoa(s.count.slow.Load()) + "  Opens: 0  Flush tables: 1  Open tables: 0  Queries per second avg: " +
		strconv.FormatFloat(float64(q)/float64(max(up, 1)), 'f', 3, 64)
}
