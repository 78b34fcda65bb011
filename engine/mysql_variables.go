package engine

import (
	"context"
	_ "embed"
	"math"
	"os"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/mysql"
	"github.com/lhsql/lhsql/types"
)

//go:embed mysql_variables.txt
var variablesText string

// definition is a system variable. Most have no meaning here: a client that sets one shall read
// back what it set.
type definition struct {
	name     string
	scope    byte // 'b' both, 'g' global, 's' session
	readOnly bool
	kind     byte // 's' text, 'i' integer, 'b' boolean, 'f' float
	value    string
}

var definitions = sync.OnceValue(func() map[string]*definition {
	m := map[string]*definition{}
	for _, line := range strings.Split(strings.TrimSpace(variablesText), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		w := strings.SplitN(line, " ", 4)
		d := &definition{name: w[0], scope: w[1][0] | 0x20, readOnly: w[1][0] < 'a', kind: w[2][0], value: w[3]}
		m[d.name] = d
	}
	m["version"].value = MySQLVersion
	m["version_compile_os"].value = runtime.GOOS
	m["version_compile_machine"].value = runtime.GOARCH
	if h, err := os.Hostname(); err == nil {
		m["hostname"].value = h
	}
	return m
})

// aliases are variables under two names.
var aliases = map[string]string{"tx_isolation": "transaction_isolation", "tx_read_only": "transaction_read_only",
	"storage_engine": "default_storage_engine", "identity": "last_insert_id"}

func variableName(name string) string {
	n := strings.ToLower(name)
	if a, ok := aliases[n]; ok {
		return a
	}
	return n
}

// globals are what SET GLOBAL has changed, for connections to come.
type globals struct {
	mu sync.Mutex
	m  map[string]string
}

func (g *globals) set(name, value string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.m == nil {
		g.m = map[string]string{}
	}
	g.m[name] = value
}

func (g *globals) get(name string) (string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v, ok := g.m[name]
	return v, ok
}

func (g *globals) copy() map[string]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	m := make(map[string]string, len(g.m))
	for k, v := range g.m {
		m[k] = v
	}
	return m
}

// AutocommitDefault is whether sessions to come commit each statement.
func (e *Engine) AutocommitDefault() bool {
	v, set := e.globals.get("autocommit")
	return !set || v == "ON"
}

// userVariable is @name.
type userVariable struct {
	value types.Datum
	typ   types.Type
}

// settings are the engine's settings that the session begins with.
func (m *MySQL) settings() map[string]string {
	out := map[string]string{}
	for name := range m.session {
		if s, value, ok := engineSetting(name, m.Text(name)); ok {
			out[s] = value
		}
	}
	if m.client.Program != "" {
		out["application_name"] = m.client.Program
	}
	return out
}

// engineSetting is the setting of the engine's that a variable stands for.
func engineSetting(name, value string) (setting, text string, ok bool) {
	switch name {
	case "time_zone":
		zone, ok := zoneSetting(value)
		return "TimeZone", zone, ok
	case "transaction_isolation":
		return "default_transaction_isolation", strings.ToLower(strings.ReplaceAll(value, "-", " ")), true
	case "transaction_read_only":
		return "default_transaction_read_only", strings.ToLower(value), true
	}
	return "", "", false
}

// zoneSetting says a MySQL time zone to the engine, whose displacements count west of Greenwich as
// POSIX has them.
func zoneSetting(v string) (string, bool) {
	if len(v) < 5 || v[0] != '+' && v[0] != '-' {
		_, known := types.NamedZone(v)
		return v, known || strings.EqualFold(v, "SYSTEM")
	}
	h, m, ok := strings.Cut(v[1:], ":")
	hours, err1 := strconv.Atoi(h)
	minutes, err2 := strconv.Atoi(m)
	if !ok || err1 != nil || err2 != nil || hours > 14 || minutes > 59 || len(m) != 2 {
		return "", false
	}
	west := map[byte]string{'+': "-", '-': "+"}[v[0]]
	return "<" + v + ">" + west + h + ":" + m, true
}

// get finds a variable's text; scope is "global", "session" or "".
func (m *MySQL) get(scope, name string) (string, *definition, bool) {
	d := definitions()[variableName(name)]
	if d == nil {
		return "", nil, false
	}
	if scope == "global" || d.scope == 'g' {
		if d.scope == 's' {
			return "", d, false
		}
		if g, ok := m.s.engine.globals.get(d.name); ok {
			return g, d, true
		}
		return m.fixed(d), d, true
	}
	return m.Text(d.name), d, true
}

// Text is a session variable's value.
func (m *MySQL) Text(name string) string {
	if s, ok := m.session[name]; ok {
		return s
	}
	return m.fixed(definitions()[name])
}

// fixed is a value that the server or the connection knows, or the default.
func (m *MySQL) fixed(d *definition) string {
	if v, ok := m.client.Variables[d.name]; ok {
		return v
	}
	switch d.name {
	case "pseudo_thread_id":
		return strconv.Itoa(int(m.s.pid))
	case "timestamp":
		return strconv.FormatFloat(float64(time.Now().UnixMicro())/1e6, 'f', 6, 64)
	case "warning_count":
		return strconv.Itoa(len(m.Warnings))
	case "error_count":
		return strconv.Itoa(m.errors())
	case "in_transaction":
		if m.s.Status() != 'I' {
			return "ON"
		}
	case "server_uuid":
		return m.s.engine.uuid()
	}
	return d.value
}

// uuid names the server process.
func (e *Engine) uuid() string {
	t := e.started.UnixNano()
	hex := strconv.FormatUint(uint64(t), 16)
	for len(hex) < 16 {
		hex = "0" + hex
	}
	return hex[:8] + "-" + hex[8:12] + "-4" + hex[13:16] + "-8000-000000000000"
}

// variable is what bind asks of @name, @@name and of the functions about the session.
func (m *MySQL) variable(scope, name string) (types.Datum, types.Type, bool, error) {
	switch scope {
	case "function":
		d, t, ok := m.function(name)
		return d, t, ok, nil
	case "user":
		u, ok := m.user[name]
		switch {
		case !ok:
			return types.Null, types.T(types.Unknown), true, nil
		case u.typ.Kind == types.Void:
			return types.Null, types.Type{}, false, sqlerr.New(sqlerr.FeatureNotSupported,
				"@%s was assigned inside an expression of a query, and its value after the query is not known; SET it", name)
		}
		return u.value, u.typ, true, nil
	}
	if strings.HasPrefix(strings.ToLower(name), "lhsql.") {
		v, ok := m.s.Setting(name)
		return types.NewStr(v), types.T(types.Text), ok, nil
	}
	text, d, ok := m.get(scope, name)
	if !ok {
		return types.Null, types.Type{}, false, nil
	}
	value, typ := d.datum(text)
	return value, typ, true, nil
}

// function answers the functions about the session: DATABASE(), VERSION() ….
func (m *MySQL) function(name string) (types.Datum, types.Type, bool) {
	text := func(s string) (types.Datum, types.Type, bool) { return types.NewStr(s), types.T(types.Text), true }
	number := func(n int64) (types.Datum, types.Type, bool) { return types.NewInt(n), types.T(types.Int8), true }
	switch strings.ToLower(name) {
	case "database", "schema":
		if m.s.CurrentDatabase() == "" {
			return types.Null, types.T(types.Text), true
		}
		return text(m.s.CurrentDatabase())
	case "version":
		return text(MySQLVersion)
	case "user", "session_user", "system_user":
		return text(m.s.opts.User + "@" + m.client.Host)
	case "current_user":
		return text(m.s.opts.User + "@%")
	case "current_role":
		return text("NONE")
	case "connection_id":
		return number(int64(m.s.pid))
	case "found_rows":
		return number(m.found)
	case "row_count":
		return number(m.affected)
	case "last_insert_id":
		return number(m.s.firstNumber)
	}
	return types.Null, types.Type{}, false
}

// datum is a variable's value as an expression has it.
func (d *definition) datum(text string) (types.Datum, types.Type) {
	switch d.kind {
	case 'b':
		n := int64(0)
		if text == "ON" {
			n = 1
		}
		return types.NewInt(n), types.T(types.Int8)
	case 'i':
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return types.NewInt(n), types.T(types.Int8)
		}
		// Beyond BIGINT: 2^64-1, which stands for "no limit".
		t := types.FixedNumeric(20, 0)
		if x, err := types.Parse(text, t, nil); err == nil {
			return x, t
		}
	case 'f':
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return types.NewFloat(f), types.T(types.Float8)
		}
	}
	if text == "NULL" {
		return types.Null, types.T(types.Text)
	}
	return types.NewStr(text), types.T(types.Text)
}

// list is SHOW VARIABLES.
func (m *MySQL) variables(global bool) [][2]string {
	names := make([]string, 0, len(definitions()))
	for n, d := range definitions() {
		if _, alias := aliases[n]; alias && n != "identity" || global && d.scope == 's' {
			continue
		}
		names = append(names, n)
	}
	sort.Strings(names)
	scope := "session"
	if global {
		scope = "global"
	}
	out := make([][2]string, 0, len(names))
	for _, n := range names {
		text, d, _ := m.get(scope, n)
		if text == "NULL" && d.kind == 's' {
			text = ""
		}
		out = append(out, [2]string{n, text})
	}
	return out
}

// set changes a system variable of the session, or with global the default of sessions to come.
// value nil is DEFAULT.
func (m *MySQL) set(ctx context.Context, r *Result, name string, value *string, global bool) error {
	if strings.HasPrefix(strings.ToLower(name), "lhsql.") {
		text := ""
		if value != nil {
			text = *value
		}
		return m.s.SetSetting(name, text)
	}
	d := definitions()[variableName(name)]
	switch {
	case d == nil:
		return mysqlError(1193, "HY000", "Unknown system variable '%s'", name)
	case d.readOnly:
		return mysqlError(1238, "HY000", "Variable '%s' is a read only variable", d.name)
	case global && d.scope == 's':
		return mysqlError(1228, "HY000", "Variable '%s' is a SESSION variable and can't be used with SET GLOBAL", d.name)
	case !global && d.scope == 'g':
		return mysqlError(1229, "HY000", "Variable '%s' is a GLOBAL variable and should be set with SET GLOBAL", d.name)
	}
	text := d.value
	if g, ok := m.s.engine.globals.get(d.name); ok && !global {
		text = g
	}
	if value != nil {
		var err error
		if text, err = d.check(*value); err != nil {
			return err
		}
	}
	if err := d.refuse(text); err != nil {
		return err
	}
	if s, x, ok := engineSetting(d.name, text); ok {
		if d.name == "time_zone" && strings.EqualFold(text, "SYSTEM") {
			x = "UTC"
		}
		if global {
			if d.name == "time_zone" {
				if _, _, err := types.SettingZone(x); err != nil {
					return mysqlError(1298, "HY000", "Unknown or incorrect time zone: '%s'", text)
				}
			}
		} else if err := m.s.SetSetting(s, x); err != nil {
			if d.name == "time_zone" {
				return mysqlError(1298, "HY000", "Unknown or incorrect time zone: '%s'", text)
			}
			return err
		}
	} else if d.name == "time_zone" {
		return mysqlError(1298, "HY000", "Unknown or incorrect time zone: '%s'", text)
	}
	if global {
		m.s.engine.globals.set(d.name, text)
		return nil
	}
	if d.name == "sql_mode" {
		defer m.readMode()
	}
	if d.name == "autocommit" && text == "ON" && !m.Autocommit() {
		if err := m.commit(ctx, r); err != nil {
			return err
		}
	}
	m.session[d.name] = text
	return nil
}

// check canonicalises a value.
func (d *definition) check(text string) (string, error) {
	wrong := mysqlError(1231, "42000", "Variable '%s' can't be set to the value of '%s'", d.name, text)
	switch d.kind {
	case 'b':
		switch strings.ToUpper(text) {
		case "ON", "1", "TRUE":
			return "ON", nil
		case "OFF", "0", "FALSE":
			return "OFF", nil
		}
		return "", wrong
	case 'i':
		if strings.EqualFold(text, "default") {
			return d.value, nil
		}
		if _, err := strconv.ParseUint(text, 10, 64); err == nil {
			return text, nil
		}
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n < 0 {
			return "0", nil // MySQL clips, with a warning
		}
		return "", mysqlError(1232, "42000", "Incorrect argument type to variable '%s'", d.name)
	case 'f':
		if d.name == "timestamp" && text != "0" {
			return "", sqlerr.New(sqlerr.FeatureNotSupported, "SET timestamp is not supported")
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return strconv.FormatFloat(f, 'f', 6, 64), nil
		}
		return "", mysqlError(1232, "42000", "Incorrect argument type to variable '%s'", d.name)
	}
	switch d.name {
	case "transaction_isolation":
		up := strings.ToUpper(strings.ReplaceAll(text, " ", "-"))
		switch up {
		case "READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE":
			return up, nil
		}
		return "", wrong
	case "character_set_client", "character_set_connection", "character_set_results", "character_set_server", "character_set_database":
		if text == "" || strings.EqualFold(text, "NULL") {
			return "", nil
		}
		return checkCharset(text)
	case "collation_connection", "collation_server", "collation_database", "default_collation_for_utf8mb4":
		return checkCollation(text)
	case "sql_mode":
		return checkMode(text)
	}
	return text, nil
}

// checkCharset takes the character sets whose bytes are UTF-8's: text is spoken in no other.
func checkCharset(name string) (string, error) {
	switch low := strings.ToLower(name); low {
	case "utf8mb4", "utf8mb3", "binary", "ascii":
		return low, nil
	case "utf8":
		return "utf8mb3", nil
	}
	return "", mysqlError(1115, "42000", "Unknown character set: '%s'. Only utf8mb4 is spoken here", name)
}

func checkCollation(name string) (string, error) {
	low := strings.ToLower(name)
	if low == "binary" || strings.HasPrefix(low, "utf8") || strings.HasPrefix(low, "ascii_") {
		return low, nil
	}
	return "", mysqlError(1273, "HY000", "Unknown collation: '%s'", name)
}

// modes are the words of sql_mode, modeGroups those that stand for several.
var modes = map[string]bool{}

var modeGroups = map[string]string{
	"ANSI":        "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI",
	"TRADITIONAL": "STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,TRADITIONAL,NO_ENGINE_SUBSTITUTION",
}

func init() {
	for _, m := range strings.Fields(`ALLOW_INVALID_DATES ANSI ANSI_QUOTES ERROR_FOR_DIVISION_BY_ZERO HIGH_NOT_PRECEDENCE
		IGNORE_SPACE NO_AUTO_VALUE_ON_ZERO NO_BACKSLASH_ESCAPES NO_DIR_IN_CREATE NO_ENGINE_SUBSTITUTION
		NO_UNSIGNED_SUBTRACTION NO_ZERO_DATE NO_ZERO_IN_DATE ONLY_FULL_GROUP_BY PAD_CHAR_TO_FULL_LENGTH PIPES_AS_CONCAT
		REAL_AS_FLOAT STRICT_ALL_TABLES STRICT_TRANS_TABLES TIME_TRUNCATE_FRACTIONAL TRADITIONAL
		NO_AUTO_CREATE_USER NO_FIELD_OPTIONS NO_KEY_OPTIONS NO_TABLE_OPTIONS`) {
		modes[m] = true
	}
}

func checkMode(text string) (string, error) {
	var out []string
	seen := map[string]bool{}
	for _, w := range strings.Split(text, ",") {
		w = strings.ToUpper(strings.TrimSpace(w))
		if w == "" {
			continue
		}
		if !modes[w] {
			return "", mysqlError(1231, "42000", "Variable 'sql_mode' can't be set to the value of '%s'", w)
		}
		list := w
		if g, ok := modeGroups[w]; ok {
			list = g
		}
		for _, m := range strings.Split(list, ",") {
			if !seen[m] {
				seen[m] = true
				out = append(out, m)
			}
		}
	}
	return strings.Join(out, ","), nil
}

// mode tells whether sql_mode has the word.
func (m *MySQL) mode(word string) bool {
	return slices.Contains(strings.Split(m.Text("sql_mode"), ","), word)
}

// readMode makes the session read text as sql_mode says.
func (m *MySQL) readMode() {
	m.textMode = mysql.Mode{ANSIQuotes: m.mode("ANSI_QUOTES"), PipesAsConcat: m.mode("PIPES_AS_CONCAT"),
		NoBackslashEscapes: m.mode("NO_BACKSLASH_ESCAPES"), HighNotPrecedence: m.mode("HIGH_NOT_PRECEDENCE")}
	mode := m.textMode
	d := *m.s.dialect
	d.parse = func(text string) ([]Parsed, error) { return mysql.ParseMode(text, mode) }
	d.check = func(text string) error { return mysql.CheckDepth(text, mode) }
	m.s.dialect = &d
}

// Autocommit tells whether a statement is a transaction of its own.
func (m *MySQL) Autocommit() bool { return m.Text("autocommit") == "ON" }

// Int is a variable's value as a number; what is none, or too large for one, is the largest.
func (m *MySQL) Int(name string) int64 {
	n, err := strconv.ParseUint(m.Text(name), 10, 64)
	if err != nil || n > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(n)
}

// maxTime is max_execution_time; 0: none.
func (m *MySQL) maxTime() time.Duration {
	return time.Duration(min(m.Int("max_execution_time"), math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}

// LongQuery is how long a statement may take that is not a slow one.
func (m *MySQL) LongQuery() time.Duration {
	f, err := strconv.ParseFloat(m.Text("long_query_time"), 64)
	if err != nil {
		return 10 * time.Second
	}
	return time.Duration(f * float64(time.Second))
}
