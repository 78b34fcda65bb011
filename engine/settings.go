package engine

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// settingKind says how a setting's text is read and shown (PostgreSQL manual, section 20.1).
type settingKind uint8

const (
	stringSetting settingKind = iota
	boolSetting
	intSetting
	realSetting
	enumSetting
	msSetting // integer with a time unit, kept in ms
	kbSetting // integer with a memory unit, kept in kB
)

// setting declares one session setting.
type setting struct {
	name     string // canonical spelling
	kind     settingKind
	value    string // default
	enum     string // for enumSetting: values separated by spaces
	min, max float64
	report   bool // ParameterStatus is sent at start-up and on change
	fixed    bool // cannot be changed by SET
	doc      string
	// check canonicalises a value; nil: as kind says.
	check func(string) (string, error)
}

// settingTable has every setting that a session knows, the ones that clients set and that have
// no meaning here included: a client must be able to set and read them back.
var settingTable = append([]setting{
	{name: "application_name", report: true, doc: "Sets the application name to be reported in statistics and logs."},
	{name: "backslash_quote", kind: enumSetting, value: "safe_encoding", enum: "safe_encoding on off"},
	{name: "block_size", kind: intSetting, value: "8192", fixed: true},
	{name: "bytea_output", kind: enumSetting, value: "hex", enum: "hex escape", doc: "Sets the output format for bytea."},
	{name: "check_function_bodies", kind: boolSetting, value: "on"},
	{name: "client_encoding", value: "UTF8", report: true, check: checkEncoding, doc: "Sets the client's character set encoding."},
	{name: "client_min_messages", kind: enumSetting, value: "notice", enum: "debug5 debug4 debug3 debug2 debug1 debug log info notice warning error"},
	{name: "cursor_tuple_fraction", kind: realSetting, value: "0.1"},
	{name: "data_checksums", kind: boolSetting, value: "on", fixed: true},
	{name: "DateStyle", value: "ISO, MDY", report: true, check: checkDateStyle, doc: "Sets the display format for date and time values."},
	{name: "default_statistics_target", kind: intSetting, value: "100", min: 1, max: 10000},
	{name: "default_table_access_method", value: "iceberg"},
	{name: "default_tablespace"},
	{name: "default_text_search_config", value: "pg_catalog.english"},
	{name: "default_toast_compression", kind: enumSetting, value: "pglz", enum: "pglz lz4"},
	{name: "default_transaction_deferrable", kind: boolSetting, value: "off"},
	{name: "default_transaction_isolation", kind: enumSetting, value: "serializable", enum: "serializable|repeatable read|read committed|read uncommitted"},
	{name: "default_transaction_read_only", kind: boolSetting, value: "off", report: true},
	{name: "enable_bitmapscan", kind: boolSetting, value: "on"},
	{name: "enable_hashagg", kind: boolSetting, value: "on"},
	{name: "enable_hashjoin", kind: boolSetting, value: "on"},
	{name: "enable_indexscan", kind: boolSetting, value: "on"},
	{name: "enable_mergejoin", kind: boolSetting, value: "on"},
	{name: "enable_nestloop", kind: boolSetting, value: "on"},
	{name: "enable_seqscan", kind: boolSetting, value: "on"},
	{name: "enable_sort", kind: boolSetting, value: "on"},
	{name: "escape_string_warning", kind: boolSetting, value: "on"},
	{name: "extra_float_digits", kind: intSetting, value: "1", min: -15, max: 3, doc: "Sets the number of digits displayed for floating-point values."},
	{name: "from_collapse_limit", kind: intSetting, value: "8", min: 1, max: math.MaxInt32},
	{name: "gin_fuzzy_search_limit", kind: intSetting, value: "0"},
	{name: "hot_standby", kind: boolSetting, value: "on", fixed: true},
	{name: "idle_in_transaction_session_timeout", kind: msSetting, value: "0"},
	{name: "idle_session_timeout", kind: msSetting, value: "0"},
	{name: "in_hot_standby", kind: boolSetting, value: "off", report: true, fixed: true},
	{name: "integer_datetimes", kind: boolSetting, value: "on", report: true, fixed: true},
	{name: "IntervalStyle", kind: enumSetting, value: "postgres", enum: "postgres postgres_verbose sql_standard iso_8601", report: true, doc: "Sets the display format for interval values."},
	{name: "is_superuser", kind: boolSetting, value: "on", report: true, fixed: true},
	{name: "jit", kind: boolSetting, value: "off"},
	{name: "join_collapse_limit", kind: intSetting, value: "8", min: 1, max: math.MaxInt32},
	{name: "lc_collate", value: "C", fixed: true},
	{name: "lc_ctype", value: "C.UTF-8", fixed: true},
	{name: "lc_messages", value: "C"},
	{name: "lc_monetary", value: "C"},
	{name: "lc_numeric", value: "C"},
	{name: "lc_time", value: "C"},
	{name: "lock_timeout", kind: msSetting, value: "0"},
	{name: "log_min_messages", kind: enumSetting, value: "warning", enum: "debug5 debug4 debug3 debug2 debug1 info notice warning error log fatal panic"},
	{name: "maintenance_work_mem", kind: kbSetting, value: "65536"},
	{name: "max_connections", kind: intSetting, value: "1000", fixed: true},
	{name: "max_identifier_length", kind: intSetting, value: "63", fixed: true},
	{name: "max_index_keys", kind: intSetting, value: "32", fixed: true},
	{name: "max_parallel_workers_per_gather", kind: intSetting, value: "2", max: 1024},
	{name: "password_encryption", kind: enumSetting, value: "scram-sha-256", enum: "md5 scram-sha-256"},
	{name: "plan_cache_mode", kind: enumSetting, value: "auto", enum: "auto force_generic_plan force_custom_plan"},
	{name: "port", kind: intSetting, value: "5433", fixed: true},
	{name: "quote_all_identifiers", kind: boolSetting, value: "off"},
	{name: "random_page_cost", kind: realSetting, value: "4"},
	{name: "role", value: "none"},
	{name: "row_security", kind: boolSetting, value: "on"},
	{name: "search_path", value: `"$user", public`, check: checkSearchPath, doc: "Sets the schema search order for names that are not schema-qualified."},
	{name: "seed", kind: realSetting, value: "0", min: -1, max: 1},
	{name: "server_encoding", value: "UTF8", report: true, fixed: true},
	{name: "server_version", report: true, fixed: true},
	{name: "server_version_num", kind: intSetting, value: "150018", fixed: true},
	{name: "session_authorization", report: true},
	{name: "session_replication_role", kind: enumSetting, value: "origin", enum: "origin replica local"},
	{name: "shared_buffers", kind: kbSetting, value: "131072", fixed: true},
	{name: "ssl", kind: boolSetting, value: "off", fixed: true},
	{name: "standard_conforming_strings", kind: boolSetting, value: "on", report: true, check: checkConformingStrings},
	{name: "statement_timeout", kind: msSetting, value: "0", doc: "Sets the maximum allowed duration of any statement."},
	{name: "superuser_reserved_connections", kind: intSetting, value: "3", fixed: true},
	{name: "synchronize_seqscans", kind: boolSetting, value: "on"},
	{name: "synchronous_commit", kind: enumSetting, value: "on", enum: "local remote_write remote_apply on off"},
	{name: "tcp_keepalives_count", kind: intSetting, value: "0"},
	{name: "tcp_keepalives_idle", kind: intSetting, value: "0"},
	{name: "tcp_keepalives_interval", kind: intSetting, value: "0"},
	{name: "temp_file_limit", kind: kbSetting, value: "-1", min: -1, max: math.MaxInt32, doc: "Limits the total size of all temporary files used by each query; -1: no limit."},
	{name: "temp_tablespaces"},
	{name: "TimeZone", value: "UTC", report: true, check: checkZone, doc: "Sets the time zone for displaying and interpreting time stamps."},
	{name: "timezone_abbreviations", value: "Default"},
	{name: "track_activities", kind: boolSetting, value: "on"},
	{name: "transaction_deferrable", kind: boolSetting, value: "off"},
	{name: "transaction_isolation", kind: enumSetting, value: "serializable", enum: "serializable|repeatable read|read committed|read uncommitted"},
	{name: "transaction_read_only", kind: boolSetting, value: "off"},
	{name: "transaction_timeout", kind: msSetting, value: "0"},
	{name: "transform_null_equals", kind: boolSetting, value: "off"},
	{name: "vacuum_cost_delay", kind: realSetting, value: "0"},
	{name: "wal_level", value: "replica", fixed: true},
	{name: "wal_segment_size", value: "16MB", fixed: true},
	{name: "work_mem", kind: kbSetting, value: "4096"},
	{name: "xmlbinary", kind: enumSetting, value: "base64", enum: "base64 hex"},
	{name: "xmloption", kind: enumSetting, value: "content", enum: "content document"},

	{name: "lhsql.as_of", doc: "Pins every table of the session to an instant, a snapshot's branch or a tag; empty: the present."},
	{name: "lhsql.branch", doc: "The branch that the session reads and writes; empty: main."},
	{name: "lhsql.wap_id", doc: "Tables with the property write.wap.enabled keep what the session writes aside under this id, until publish_changes; empty: off."},
	{name: "lhsql.pruning", kind: boolSetting, value: "on", doc: "Skips files, row groups and pages that statistics prove irrelevant."},
	{name: "lhsql.runtime_filters", kind: boolSetting, value: "on", doc: "Lets join keys found at run time prune the other side."},
	{name: "lhsql.workers", kind: intSetting, value: "0", max: 1024, doc: "Goroutines per query; 0: one per processor."},
	{name: "lhsql.batch_rows", kind: intSetting, value: "2048", min: 1, max: 65536, doc: "Rows per batch."},
	{name: "lhsql.reencode", kind: boolSetting, value: "off", doc: "For tests: operators hand on batches in other shapes than they make. Answers stay."},
	{name: "lhsql.query_memory", kind: kbSetting, value: "0", doc: "Memory that one query may hold before it spills; 0: a share of the server's."},
	{name: "lhsql.disable_passes", doc: "Planner passes to leave out, by name, separated by commas; all: every one that a plan can do without."},
	{name: "lhsql.write_isolation", kind: enumSetting, value: "table", enum: "table serializable snapshot", doc: "The level that DELETE, UPDATE and MERGE are validated at; table: as the table's property write.….isolation-level says, else serializable."},
	{name: "lhsql.retry_conflicts", kind: intSetting, value: "5", max: 1000, doc: "How often a write statement or definition outside of a transaction block is run again after a conflict with another writer."},
	{name: "lhsql.create_index", kind: enumSetting, value: "notice", enum: "notice error", doc: "What CREATE INDEX does: notice takes it and says what prunes instead, error refuses it."},
	{name: "lhsql.table_options", kind: boolSetting, value: "on", doc: "pg_class.reloptions says what Iceberg knows of a table; off makes pg_dump's text one that PostgreSQL loads, too."},
	{name: "lhsql.stepwise_commit", kind: boolSetting, value: "off", doc: "COMMIT makes what the catalog cannot make in one step one after the other."},
	{name: "lhsql.default_format_version", kind: intSetting, value: "2", min: 1, max: 3},
}, inertSettings()...)

var settingIndex = func() map[string]*setting {
	m := make(map[string]*setting, len(settingTable))
	for i := range settingTable {
		m[strings.ToLower(settingTable[i].name)] = &settingTable[i]
	}
	return m
}()

// settingAliases are other systems' names of our settings.
var settingAliases = map[string]string{
	"time zone":                  "timezone",
	"spark.wap.branch":           "lhsql.branch",
	"spark.wap.id":               "lhsql.wap_id",
	"names":                      "client_encoding",
	"session characteristics":    "default_transaction_isolation",
	"spark.sql.session.timezone": "timezone",
}

func canonicalSetting(name string) string {
	n := strings.ToLower(name)
	if a, ok := settingAliases[n]; ok {
		return a
	}
	return n
}

// checkSetting canonicalises value for the setting with the lower-case name.
func checkSetting(name, value string) (string, error) {
	c, err := readSetting(name, value)
	if err == nil {
		err = refuseSetting(name, c)
	}
	return c, err
}

// readSetting is the value as the setting's kind has it.
func readSetting(name, value string) (string, error) {
	s, ok := settingIndex[name]
	if !ok {
		if strings.Contains(name, ".") && !strings.HasPrefix(name, "lhsql.") {
			return value, nil // a placeholder of someone's own, as in PostgreSQL
		}
		return "", sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter %q", name)
	}
	if s.check != nil {
		return s.check(value)
	}
	bad := func() error {
		return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter %q: %q", s.name, value)
	}
	switch s.kind {
	case boolSetting:
		b, ok := parseBoolSetting(value)
		if !ok {
			return "", sqlerr.New(sqlerr.InvalidParameterValue, "parameter %q requires a Boolean value", s.name)
		}
		if b {
			return "on", nil
		}
		return "off", nil
	case enumSetting:
		for _, e := range s.values() {
			if strings.EqualFold(e, value) {
				return e, nil
			}
		}
		return "", bad().(*sqlerr.Error).WithHint("Available values: %s.", strings.Join(s.values(), ", "))
	case realSetting:
		if _, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err != nil {
			return "", bad()
		}
		return strings.TrimSpace(value), nil
	case intSetting, msSetting, kbSetting:
		n, err := parseUnits(s.kind, value)
		if err != nil {
			return "", bad()
		}
		lo, hi := s.min, s.max
		if hi == 0 {
			hi = math.MaxInt32
		}
		if float64(n) < lo || float64(n) > hi {
			return "", sqlerr.New(sqlerr.InvalidParameterValue, "%d is outside the valid range for parameter %q (%v .. %v)", n, s.name, lo, hi)
		}
		return strconv.FormatInt(n, 10), nil
	}
	return value, nil
}

func (s *setting) values() []string {
	if strings.Contains(s.enum, "|") {
		return strings.Split(s.enum, "|")
	}
	return strings.Fields(s.enum)
}

// show is the value as SHOW prints it: times and sizes in their largest whole unit.
func (s *setting) show(v string) string {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n == 0 {
		return v
	}
	units := msUnits
	if s.kind == kbSetting {
		units = kbUnits
	} else if s.kind != msSetting {
		return v
	}
	for i := len(units) - 1; i >= 0; i-- {
		if n%units[i].n == 0 {
			return fmt.Sprintf("%d%s", n/units[i].n, units[i].name)
		}
	}
	return v
}

type unit struct {
	name string
	n    int64
}

var (
	msUnits = []unit{{"ms", 1}, {"s", 1000}, {"min", 60_000}, {"h", 3_600_000}, {"d", 86_400_000}}
	kbUnits = []unit{{"kB", 1}, {"MB", 1 << 10}, {"GB", 1 << 20}, {"TB", 1 << 30}}
)

func parseUnits(kind settingKind, text string) (int64, error) {
	text = strings.TrimSpace(text)
	i := len(text)
	for i > 0 && (text[i-1] < '0' || text[i-1] > '9') {
		i--
	}
	name := strings.TrimSpace(text[i:])
	f, err := strconv.ParseFloat(strings.TrimSpace(text[:i]), 64)
	if err != nil {
		return 0, err
	}
	if name == "" {
		return int64(math.Round(f)), nil
	}
	units := msUnits
	switch kind {
	case kbSetting:
		units = kbUnits
	case intSetting:
		return 0, strconv.ErrSyntax
	}
	for _, u := range units {
		if u.name == name {
			return int64(math.Round(f * float64(u.n))), nil
		}
	}
	return 0, strconv.ErrSyntax
}

// parseBoolSetting takes any unique prefix of true, false, yes, no, on, off and 1, 0.
func parseBoolSetting(v string) (value, ok bool) {
	v = strings.ToLower(strings.TrimSpace(v))
	if v == "" {
		return false, false
	}
	for _, t := range []string{"true", "yes"} {
		if strings.HasPrefix(t, v) {
			return true, true
		}
	}
	for _, f := range []string{"false", "no"} {
		if strings.HasPrefix(f, v) {
			return false, true
		}
	}
	switch v {
	case "on", "1":
		return true, true
	case "off", "of", "0":
		return false, true
	}
	return false, false
}

func checkEncoding(v string) (string, error) {
	// asyncpg sends the value with its quotes: 'utf-8'.
	switch strings.ToUpper(strings.Trim(v, `'"`)) {
	case "UTF8", "UTF-8", "UNICODE":
		return "UTF8", nil
	case "SQL_ASCII":
		return "SQL_ASCII", nil
	}
	return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter %q: %q", "client_encoding", v).
		WithHint("Only UTF8 is spoken here.")
}

func checkConformingStrings(v string) (string, error) {
	b, ok := parseBoolSetting(v)
	if !ok {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "parameter %q requires a Boolean value", "standard_conforming_strings")
	}
	if !b {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "standard_conforming_strings = off is not supported").
			WithHint("Use E'…' strings for backslash escapes.")
	}
	return "on", nil
}

func checkDateStyle(v string) (string, error) {
	style, order := "ISO", "MDY"
	for _, w := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' }) {
		switch strings.ToUpper(w) {
		case "ISO", "DEFAULT":
			style = "ISO"
		case "SQL":
			style = "SQL"
		case "POSTGRES":
			style = "Postgres"
		case "GERMAN":
			style, order = "German", "DMY"
		case "MDY", "US", "NONEURO", "NONEUROPEAN":
			order = "MDY"
		case "DMY", "EURO", "EUROPEAN":
			order = "DMY"
		case "YMD":
			order = "YMD"
		default:
			return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter %q: %q", "DateStyle", v)
		}
	}
	return style + ", " + order, nil
}

func checkZone(v string) (string, error) {
	_, name, err := types.SettingZone(v)
	return name, err
}

func checkSearchPath(v string) (string, error) {
	if _, ok := splitIdentifiers(v); !ok {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter %q: %q", "search_path", v).
			WithDetail("List syntax is invalid.")
	}
	return v, nil
}

// splitIdentifiers reads a comma-separated list of SQL identifiers, folding unquoted ones.
func splitIdentifiers(v string) ([]string, bool) {
	var out []string
	for s := strings.TrimSpace(v); s != ""; {
		var id string
		if s[0] == '"' {
			end := 1
			for {
				j := strings.IndexByte(s[end:], '"')
				if j < 0 {
					return nil, false
				}
				id += s[end : end+j]
				end += j + 1
				if end >= len(s) || s[end] != '"' {
					break
				}
				id, end = id+`"`, end+1
			}
			s = strings.TrimSpace(s[end:])
		} else {
			j := strings.IndexByte(s, ',')
			if j < 0 {
				j = len(s)
			}
			id, s = strings.ToLower(strings.TrimSpace(s[:j])), s[j:]
		}
		out = append(out, id)
		if s == "" {
			break
		}
		if s[0] != ',' {
			return nil, false
		}
		if s = strings.TrimSpace(s[1:]); s == "" {
			return nil, false
		}
	}
	return out, true
}

// settings holds a session's values by lower-case name, with what SET LOCAL and a rolled back
// transaction must restore.
type settings struct {
	defaults map[string]string  // what RESET gives back: table, configuration, start-up packet
	values   map[string]string  // differing from defaults
	saved    map[string]*string // transaction start: nil, the default
	locals   map[string]*string // SET LOCAL in this transaction: what to restore at its end
	// mayBecome tells why role or session_authorization may not be set so.
	mayBecome func(setting, name string) error
}

func newSettings(version string, layers ...map[string]string) (*settings, error) {
	s := &settings{defaults: map[string]string{}, values: map[string]string{}}
	for i := range settingTable {
		s.defaults[strings.ToLower(settingTable[i].name)] = settingTable[i].value
	}
	s.defaults["server_version"] = version
	for _, l := range layers {
		for k, v := range l {
			n := canonicalSetting(k)
			c, err := checkSetting(n, v)
			if err != nil {
				return nil, err
			}
			s.defaults[n] = c
		}
	}
	return s, nil
}

func (s *settings) get(name string) (string, bool) {
	n := canonicalSetting(name)
	if v, ok := s.values[n]; ok {
		return v, true
	}
	v, ok := s.defaults[n]
	return v, ok
}

func (s *settings) bool(name string) bool { v, _ := s.get(name); return v == "on" }

func (s *settings) int(name string) int64 {
	v, _ := s.get(name)
	n, _ := strconv.ParseInt(v, 10, 64)
	return n
}

// set changes a setting; value nil means RESET.
func (s *settings) set(name string, value *string, local, inTx bool) error {
	n := canonicalSetting(name)
	if d, ok := settingIndex[n]; ok && d.fixed {
		return sqlerr.New("55P02", "parameter %q cannot be changed", d.name)
	}
	if value != nil {
		c, err := checkSetting(n, *value)
		if err != nil {
			return err
		}
		if n == "role" && c != "none" || n == "session_authorization" {
			if err := s.mayBecome(n, c); err != nil {
				return err
			}
		}
		value = &c
	} else if _, ok := s.defaults[n]; !ok {
		if _, err := checkSetting(n, ""); err != nil {
			return err
		}
	}
	if local && !inTx {
		return nil // PostgreSQL warns and does nothing; the engine adds the warning
	}
	if n == "session_authorization" {
		if err := s.set("role", nil, local, inTx); err != nil {
			return err
		}
	}
	old := s.current(n)
	if inTx {
		if _, ok := s.saved[n]; !ok {
			s.saved = put(s.saved, n, old)
		}
		if local {
			if _, ok := s.locals[n]; !ok {
				s.locals = put(s.locals, n, old)
			}
		} else {
			delete(s.locals, n)
		}
	}
	s.restore(n, value)
	return nil
}

func put(m map[string]*string, k string, v *string) map[string]*string {
	if m == nil {
		m = map[string]*string{}
	}
	m[k] = v
	return m
}

func (s *settings) current(n string) *string {
	if v, ok := s.values[n]; ok {
		return &v
	}
	return nil
}

func (s *settings) restore(n string, v *string) {
	if v == nil {
		delete(s.values, n)
		return
	}
	s.values[n] = *v
}

// endTx ends a transaction's hold on settings: a commit keeps SET and undoes SET LOCAL, a
// rollback undoes both.
func (s *settings) endTx(commit bool) {
	undo := s.saved
	if commit {
		undo = s.locals
	}
	for n, v := range undo {
		s.restore(n, v)
	}
	s.saved, s.locals = nil, nil
}

// resetAll is RESET ALL: every setting that SET changed goes back to its default.
func (s *settings) resetAll() {
	for n := range s.values {
		if n != "role" && n != "session_authorization" && !strings.HasPrefix(n, "transaction_") {
			delete(s.values, n)
		}
	}
}

// all lists the settings by name, as SHOW ALL does.
func (s *settings) all() []setting {
	out := append([]setting(nil), settingTable...)
	sort.Slice(out, func(i, j int) bool { return strings.ToLower(out[i].name) < strings.ToLower(out[j].name) })
	for i := range out {
		v, _ := s.get(out[i].name)
		out[i].value = v
	}
	return out
}

// reported is the ParameterStatus set by canonical name.
func (s *settings) reported() map[string]string {
	m := map[string]string{}
	for i := range settingTable {
		if d := &settingTable[i]; d.report {
			v, _ := s.get(d.name)
			m[d.name] = v
		}
	}
	return m
}
