package syscat

import (
	"context"
	"net"
	"strconv"
	"time"

	"github.com/lhsql/lhsql/eval/pgfunc"
	"github.com/lhsql/lhsql/types"
)

func init() {
	for name, f := range map[string]rowsFunc{
		"pg_database":            pgDatabase,
		"pg_roles":               pgRoles,
		"pg_authid":              pgAuthid,
		"pg_user":                pgUser,
		"pg_settings":            pgSettings,
		"pg_stat_activity":       pgStatActivity,
		"pg_stat_database":       pgStatDatabase,
		"pg_prepared_statements": pgPrepared,
		"pg_cursors":             pgCursors,
		"pg_am":                  pgAm,
		"pg_language":            pgLanguage,
		"pg_tablespace":          pgTablespace,
		"pg_collation":           pgCollation,
		"pg_timezone_names":      pgTimezoneNames,
		"pg_extension":           pgExtension,

		"pg_available_extensions":         pgAvailableExtensions,
		"pg_available_extension_versions": pgAvailableExtensionVersions,
	} {
		makers["pg_catalog."+name] = f
	}
}

func pgDatabase(ctx context.Context, q *query) error {
	l, err := q.lock(ctx)
	if err != nil {
		return err
	}
	for _, n := range q.host.Databases() {
		owner, acl := uint32(ownerOID), any(nil)
		if l != nil {
			owner, acl = l.State.Find(l.database(n), "").Owner, aclOrNull(l.State.ACLText(l.database(n), ""))
		}
		if err := q.row("oid", DatabaseOID(n), "datname", n, "datdba", owner, "datacl", acl, "encoding", 6, "datlocprovider", "c",
			"datistemplate", false, "datallowconn", true, "datconnlimit", -1, "datfrozenxid", 0, "datminmxid", 0,
			"dattablespace", defaultSpace, "datcollate", "C", "datctype", "C.UTF-8"); err != nil {
			return err
		}
	}
	return nil
}

// users are the configured ones and the session's own; the owner of everything is the session's
// user, whose OID is that of PostgreSQL's bootstrap superuser.
func (q *query) users(f func(oid uint32, name string) error) error {
	me := q.host.User()
	if err := f(ownerOID, me); err != nil {
		return err
	}
	for _, u := range q.host.Users() {
		if u == me {
			continue
		}
		if err := f(RoleOID(u), u); err != nil {
			return err
		}
	}
	return nil
}

func pgSettings(ctx context.Context, q *query) error {
	for _, s := range q.host.Settings() {
		context, source := "user", "default"
		if s.Value != s.Default {
			source = "session"
		}
		if s.Fixed {
			context = "internal"
		}
		enum := any(nil)
		if len(s.Enum) > 0 {
			enum = s.Enum
		}
		if err := q.row("name", s.Name, "setting", s.Value, "category", "lhsql", "short_desc", s.Doc, "context", context,
			"vartype", s.Kind, "source", source, "enumvals", enum, "boot_val", s.Default, "reset_val", s.Default,
			"pending_restart", false); err != nil {
			return err
		}
	}
	return nil
}

func pgStatActivity(ctx context.Context, q *query) error {
	for _, s := range q.host.Sessions() {
		addr, port := any(nil), any(nil)
		if h, p, err := net.SplitHostPort(s.Address); err == nil {
			n, _ := strconv.Atoi(p)
			addr, port = h, n
		}
		wait := any(nil)
		if s.State != "active" {
			wait = "Client"
		}
		if s.Hidden { // what another role does, as PostgreSQL hides it
			if err := q.row("datid", DatabaseOID(s.Database), "datname", s.Database, "pid", s.PID, "usesysid", s.UserOID, "usename", s.User,
				"application_name", s.App, "query", "<insufficient privilege>"); err != nil {
				return err
			}
			continue
		}
		if err := q.row("datid", DatabaseOID(s.Database), "datname", s.Database, "pid", s.PID, "usesysid", s.UserOID, "usename", s.User,
			"application_name", s.App, "client_addr", addr, "client_port", port, "backend_start", s.Start, "xact_start", s.TxStart,
			"query_start", s.QueryStart, "state_change", s.StateChange, "wait_event_type", wait, "state", s.State, "query", s.Query,
			"backend_type", "client backend"); err != nil {
			return err
		}
	}
	return nil
}

// pgStatDatabase counts temporary files, which are the server's and no database's, with the
// session's own.
func pgStatDatabase(ctx context.Context, q *query) error {
	for _, n := range q.host.Databases() {
		temp := int64(0)
		if n == q.host.Database() {
			temp = q.host.TempBytes()
		}
		backends := 0
		for _, s := range q.host.Sessions() {
			if s.Database == n {
				backends++
			}
		}
		if err := q.row("datid", DatabaseOID(n), "datname", n, "numbackends", backends, "temp_bytes", temp, "stats_reset", q.host.Started()); err != nil {
			return err
		}
	}
	return nil
}

func pgPrepared(ctx context.Context, q *query) error {
	for _, p := range q.host.Prepared() {
		oids := make([]int, len(p.Params))
		for i, t := range p.Params {
			oids[i] = int(t.OID())
		}
		if err := q.row("name", p.Name, "statement", p.Text, "prepare_time", p.Time, "parameter_types", oids, "from_sql", p.FromSQL,
			"generic_plans", 0, "custom_plans", 0); err != nil {
			return err
		}
	}
	return nil
}

func pgCursors(ctx context.Context, q *query) error {
	for _, c := range q.host.Cursors() {
		if err := q.row("name", c.Name, "statement", c.Text, "is_holdable", c.Hold, "is_binary", false, "is_scrollable", c.Scroll,
			"creation_time", q.host.Started()); err != nil {
			return err
		}
	}
	return nil
}

func pgAm(ctx context.Context, q *query) error {
	if err := q.row("oid", heapAM, "amname", "heap", "amhandler", 3, "amtype", "t"); err != nil {
		return err
	}
	return q.row("oid", btreeAM, "amname", "btree", "amhandler", 330, "amtype", "i")
}

func pgLanguage(ctx context.Context, q *query) error {
	const validator = 2246 // fmgr_internal_validator, then those of c and sql
	for i, n := range []string{"internal", "c", "sql"} {
		if err := q.row("oid", 12+i, "lanname", n, "lanowner", ownerOID, "lanispl", false, "lanpltrusted", n == "sql",
			"lanplcallfoid", 0, "laninline", 0, "lanvalidator", validator+i); err != nil {
			return err
		}
	}
	return nil
}

func pgTablespace(ctx context.Context, q *query) error {
	if err := q.row("oid", defaultSpace, "spcname", "pg_default", "spcowner", ownerOID); err != nil {
		return err
	}
	return q.row("oid", globalSpace, "spcname", "pg_global", "spcowner", ownerOID)
}

func pgCollation(ctx context.Context, q *query) error {
	for _, c := range []struct {
		oid            int
		name, provider string
		coll           any
	}{{100, "default", "d", nil}, {950, "C", "c", "C"}, {951, "POSIX", "c", "POSIX"}, {962, "ucs_basic", "c", "C"}} {
		if err := q.row("oid", c.oid, "collname", c.name, "collnamespace", pgCatalogOID, "collowner", ownerOID,
			"collprovider", c.provider, "collisdeterministic", true, "collencoding", -1, "collcollate", c.coll, "collctype", c.coll); err != nil {
			return err
		}
	}
	return nil
}

func pgTimezoneNames(ctx context.Context, q *query) error {
	now := time.Now()
	for _, n := range types.ZoneNames() {
		loc, _, err := types.LoadZone(n)
		if err != nil {
			continue
		}
		t := now.In(loc)
		abbrev, off := t.Zone()
		iv := types.IntervalValue{Micros: int64(off) * 1_000_000}
		if err := q.row("name", n, "abbrev", abbrev, "utc_offset", types.NewW128(iv.W128()), "is_dst", t.IsDST()); err != nil {
			return err
		}
	}
	return nil
}

func pgExtension(ctx context.Context, q *query) error {
	return q.row("oid", 13000, "extname", pgfunc.Extension.Name, "extowner", ownerOID, "extnamespace", pgCatalogOID, "extrelocatable", false, "extversion", pgfunc.Extension.Version)
}

func pgAvailableExtensions(ctx context.Context, q *query) error {
	x := pgfunc.Extension
	return q.row("name", x.Name, "default_version", x.Version, "installed_version", x.Version, "comment", x.Comment)
}

func pgAvailableExtensionVersions(ctx context.Context, q *query) error {
	x := pgfunc.Extension
	return q.row("name", x.Name, "version", x.Version, "installed", true, "superuser", true, "trusted", true, "relocatable", false,
		"schema", "pg_catalog", "comment", x.Comment)
}
