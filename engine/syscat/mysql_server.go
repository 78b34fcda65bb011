package syscat

import (
	"context"
	"strings"
	"time"
)

func myCharacterSets(_ context.Context, q *query) error {
	for _, c := range []struct {
		name, collation, doc string
		max                  int
	}{
		{"ascii", "ascii_general_ci", "US ASCII", 1},
		{"binary", "binary", "Binary pseudo charset", 1},
		{"utf8mb3", "utf8mb3_general_ci", "UTF-8 Unicode", 3},
		{"utf8mb4", "utf8mb4_0900_ai_ci", "UTF-8 Unicode", 4},
	} {
		if err := q.row("CHARACTER_SET_NAME", c.name, "DEFAULT_COLLATE_NAME", c.collation, "DESCRIPTION", c.doc, "MAXLEN", c.max); err != nil {
			return err
		}
	}
	return nil
}

// mysqlCollations are the collations of the character sets that are spoken here: id, name, set,
// "Yes" for the set's default, pad attribute.
var mysqlCollations = []struct {
	id                        int
	name, set, isDefault, pad string
	sortlen                   int
}{
	{11, "ascii_general_ci", "ascii", "Yes", "PAD SPACE", 1},
	{65, "ascii_bin", "ascii", "", "PAD SPACE", 1},
	{63, "binary", "binary", "Yes", "NO PAD", 1},
	{33, "utf8mb3_general_ci", "utf8mb3", "Yes", "PAD SPACE", 1},
	{83, "utf8mb3_bin", "utf8mb3", "", "PAD SPACE", 1},
	{192, "utf8mb3_unicode_ci", "utf8mb3", "", "PAD SPACE", 8},
	{45, "utf8mb4_general_ci", "utf8mb4", "", "PAD SPACE", 1},
	{46, "utf8mb4_bin", "utf8mb4", "", "PAD SPACE", 1},
	{224, "utf8mb4_unicode_ci", "utf8mb4", "", "PAD SPACE", 8},
	{246, "utf8mb4_unicode_520_ci", "utf8mb4", "", "PAD SPACE", 8},
	{255, "utf8mb4_0900_ai_ci", "utf8mb4", "Yes", "NO PAD", 0},
	{278, "utf8mb4_0900_as_cs", "utf8mb4", "", "NO PAD", 0},
	{305, "utf8mb4_0900_as_ci", "utf8mb4", "", "NO PAD", 0},
	{309, "utf8mb4_0900_bin", "utf8mb4", "", "NO PAD", 1},
}

func myCollations(_ context.Context, q *query) error {
	for _, c := range mysqlCollations {
		if err := q.row("COLLATION_NAME", c.name, "CHARACTER_SET_NAME", c.set, "ID", c.id, "IS_DEFAULT", c.isDefault, "IS_COMPILED", "Yes",
			"SORTLEN", c.sortlen, "PAD_ATTRIBUTE", c.pad); err != nil {
			return err
		}
	}
	return nil
}

func myApplicability(_ context.Context, q *query) error {
	for _, c := range mysqlCollations {
		if err := q.row("COLLATION_NAME", c.name, "CHARACTER_SET_NAME", c.set); err != nil {
			return err
		}
	}
	return nil
}

func myEngines(_ context.Context, q *query) error {
	if err := q.row("ENGINE", "Iceberg", "SUPPORT", "DEFAULT", "COMMENT", "Apache Iceberg tables: snapshots, time travel, branches", "TRANSACTIONS", "YES", "XA", "NO", "SAVEPOINTS", "YES"); err != nil {
		return err
	}
	return q.row("ENGINE", "MEMORY", "SUPPORT", "NO", "COMMENT", "MySQL's own catalogs", "TRANSACTIONS", "NO", "XA", "NO", "SAVEPOINTS", "NO")
}

func myPlugins(_ context.Context, q *query) error {
	for _, p := range [][3]string{
		{"mysql_native_password", "AUTHENTICATION", "Native MySQL authentication"},
		{"caching_sha2_password", "AUTHENTICATION", "Caching sha2 authentication"},
		{"Iceberg", "STORAGE ENGINE", "Apache Iceberg tables"},
	} {
		if err := q.row("PLUGIN_NAME", p[0], "PLUGIN_VERSION", "1.0", "PLUGIN_STATUS", "ACTIVE", "PLUGIN_TYPE", p[1], "PLUGIN_TYPE_VERSION", "2.1",
			"PLUGIN_DESCRIPTION", p[2], "PLUGIN_LICENSE", "APACHE", "LOAD_OPTION", "FORCE"); err != nil {
			return err
		}
	}
	return nil
}

// command is what a session does in MySQL's words, and for how many seconds.
func command(s Session) (name string, seconds int64) {
	name, since := "Sleep", s.StateChange
	if s.State == "active" {
		name, since = "Query", s.QueryStart
	}
	if since.IsZero() {
		return name, 0
	}
	return name, int64(time.Since(since).Seconds())
}

func myProcesslist(_ context.Context, q *query) error {
	for _, s := range q.mysql.Sessions() {
		if s.Hidden {
			continue // as without PROCESS
		}
		name, seconds := command(s)
		info, state := any(nil), ""
		if name == "Query" {
			info, state = s.Query, "executing"
		}
		row := []any{"ID", s.PID, "USER", s.User, "HOST", s.Address, "DB", opt(s.Database), "COMMAND", name, "TIME", seconds, "STATE", state, "INFO", info}
		if err := q.row(row...); err != nil {
			return err
		}
	}
	return nil
}

func myThreads(_ context.Context, q *query) error {
	for _, s := range q.mysql.Sessions() {
		if s.Hidden {
			continue // as without PROCESS
		}
		name, seconds := command(s)
		info := any(nil)
		if name == "Query" {
			info = s.Query
		}
		if err := q.row("THREAD_ID", s.PID, "NAME", "thread/sql/one_connection", "TYPE", "FOREGROUND", "PROCESSLIST_ID", s.PID,
			"PROCESSLIST_USER", s.User, "PROCESSLIST_HOST", s.Address, "PROCESSLIST_DB", opt(s.Database), "PROCESSLIST_COMMAND", name,
			"PROCESSLIST_TIME", seconds, "PROCESSLIST_INFO", info, "INSTRUMENTED", "NO", "HISTORY", "NO", "CONNECTION_TYPE", "TCP/IP"); err != nil {
			return err
		}
	}
	return nil
}

func mySysSessions(_ context.Context, q *query) error {
	for _, s := range q.mysql.Sessions() {
		if s.Hidden {
			continue // as without PROCESS
		}
		name, seconds := command(s)
		if err := q.row("thd_id", s.PID, "conn_id", s.PID, "user", s.User, "db", opt(s.Database), "command", name, "time", seconds,
			"current_statement", opt(s.Query)); err != nil {
			return err
		}
	}
	return nil
}

func myList(name string) rowsFunc {
	return func(_ context.Context, q *query) error {
		for _, kv := range q.mysql.List(name) {
			if err := q.row("VARIABLE_NAME", kv[0], "VARIABLE_VALUE", kv[1]); err != nil {
				return err
			}
		}
		return nil
	}
}

// mysqlPrivileges are what every user has: who may log in may do what the server can do.
var mysqlPrivileges = strings.Split("SELECT,INSERT,UPDATE,DELETE,CREATE,DROP,ALTER,PROCESS,SHOW DATABASES,CREATE VIEW,SHOW VIEW,EXECUTE", ",")

func myUserPrivileges(_ context.Context, q *query) error {
	for _, p := range mysqlPrivileges {
		if err := q.row("GRANTEE", "'"+q.mysql.User()+"'@'%'", "TABLE_CATALOG", "def", "PRIVILEGE_TYPE", p, "IS_GRANTABLE", "NO"); err != nil {
			return err
		}
	}
	return nil
}

// myUser shows the users that are connected: the server's list of users belongs to the wire and
// holds verifiers.
func myUser(_ context.Context, q *query) error {
	seen := map[string]bool{}
	for _, s := range q.mysql.Sessions() {
		if seen[s.User] || s.Hidden {
			continue
		}
		seen[s.User] = true
		row := []any{"Host", "%", "User", s.User, "plugin", "caching_sha2_password", "authentication_string", "", "password_expired", "N",
			"account_locked", "N", "ssl_type", "", "ssl_cipher", "", "x509_issuer", "", "x509_subject", "", "max_questions", 0, "max_updates", 0,
			"max_connections", 0, "max_user_connections", 0}
		for _, f := range q.def.fields {
			if strings.HasSuffix(f.Name, "_priv") {
				v := "N"
				switch f.Name {
				case "Select_priv", "Insert_priv", "Update_priv", "Delete_priv", "Create_priv", "Drop_priv", "Alter_priv", "Process_priv",
					"Show_db_priv", "Create_view_priv", "Show_view_priv", "Execute_priv":
					v = "Y"
				}
				row = append(row, f.Name, v)
			}
		}
		if err := q.row(row...); err != nil {
			return err
		}
	}
	return nil
}

func myVersion(_ context.Context, q *query) error {
	version := ""
	for _, kv := range q.mysql.List("global_variables") {
		if kv[0] == "version" {
			version = kv[1]
		}
	}
	return q.row("sys_version", "2.1.2", "mysql_version", version)
}

func myOverview(ctx context.Context, q *query) error {
	count := map[[2]string]int{}
	var order [][2]string
	err := q.eachRelation(ctx, "db", "object_type", func(it myItem) error {
		k := [2]string{it.db.Name, it.kind()}
		if count[k] == 0 {
			order = append(order, k)
		}
		count[k]++
		return nil
	})
	if err != nil {
		return err
	}
	for _, k := range order {
		if err := q.row("db", k[0], "object_type", k[1], "count", count[k]); err != nil {
			return err
		}
	}
	return nil
}

// myKeywords are MySQL 8.0's reserved words.
func myKeywords(_ context.Context, q *query) error {
	for _, w := range strings.Fields(mysqlReserved) {
		if err := q.row("WORD", strings.ToUpper(w), "RESERVED", 1); err != nil {
			return err
		}
	}
	return nil
}

const mysqlReserved = `accessible add all alter analyze and as asc asensitive before between bigint binary blob both by call cascade
	case change char character check collate column condition constraint continue convert create cross cube cume_dist current_date
	current_time current_timestamp current_user cursor database databases day_hour day_microsecond day_minute day_second dec decimal
	declare default delayed delete dense_rank desc describe deterministic distinct distinctrow div double drop dual each else elseif
	empty enclosed escaped except exists exit explain false fetch first_value float float4 float8 for force foreign from fulltext
	function generated get grant group grouping groups having high_priority hour_microsecond hour_minute hour_second if ignore in
	index infile inner inout insensitive insert int int1 int2 int3 int4 int8 integer intersect interval into io_after_gtids
	io_before_gtids is iterate join json_table key keys kill lag last_value lateral lead leading leave left like limit linear lines
	load localtime localtimestamp lock long longblob longtext loop low_priority master_bind master_ssl_verify_server_cert match
	maxvalue mediumblob mediumint mediumtext middleint minute_microsecond minute_second mod modifies natural not no_write_to_binlog
	nth_value ntile null numeric of on optimize optimizer_costs option optionally or order out outer outfile over partition
	percent_rank precision primary procedure purge range rank read reads read_write real recursive references regexp release rename
	repeat replace require resignal restrict return revoke right rlike row rows row_number schema schemas second_microsecond select
	sensitive separator set show signal smallint spatial specific sql sqlexception sqlstate sqlwarning sql_big_result
	sql_calc_found_rows sql_small_result ssl starting stored straight_join system table terminated then tinyblob tinyint tinytext to
	trailing trigger true undo union unique unlock unsigned update usage use using utc_date utc_time utc_timestamp values varbinary
	varchar varcharacter varying virtual when where while window with write xor year_month zerofill`
