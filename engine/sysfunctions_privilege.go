package engine

import (
	"context"
	"strings"

	"github.com/lhsql/lhsql/engine/syscat"
	"github.com/lhsql/lhsql/guard"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// has_table_privilege() and its family, where the lock is on. A missing object by its OID gives NULL,
// by its name an error, as in PostgreSQL.

// asking is one question: of which role, about which object, for which privileges.
type asking struct {
	s    *Session
	ctx  context.Context
	p    *permission
	role guard.OID
	// all is what is asked for: one of them is enough; options tells of which WITH GRANT OPTION is.
	all []askedPrivilege
}

type askedPrivilege struct {
	privilege guard.Privilege
	option    bool
}

// isPrivilegeFunction tells the functions that answer with the guard, and only with it.
func isPrivilegeFunction(fn string) bool {
	return strings.HasPrefix(fn, "has_") && strings.HasSuffix(fn, "_privilege") || fn == "pg_has_role"
}

func init() {
	for fn, f := range map[string]func(*asking, []types.Datum) (types.Datum, error){
		"has_table_privilege":      (*asking).table,
		"has_any_column_privilege": (*asking).anyColumn,
		"has_column_privilege":     (*asking).column,
		"has_schema_privilege":     (*asking).schema,
		"has_database_privilege":   (*asking).database,
		"pg_has_role":              (*asking).member,
	} {
		objects := 1
		if fn == "has_column_privilege" {
			objects = 2
		}
		privilegeFunctions[fn] = func(ctx context.Context, s *Session, a []types.Datum) (types.Datum, error) {
			p, err := s.permission(ctx)
			if err != nil {
				return types.Null, err
			}
			q := &asking{s: s, ctx: ctx, p: p, role: p.role}
			if len(a) == objects+2 {
				if q.role, err = q.roleOf(a[0]); err != nil {
					return types.Null, err
				}
				a = a[1:]
			}
			if fn != "pg_has_role" {
				if err := q.read(a[len(a)-1].Str(), fn); err != nil {
					return types.Null, err
				}
			}
			return f(q, a)
		}
	}
}

var privilegeFunctions = map[string]func(context.Context, *Session, []types.Datum) (types.Datum, error){}

func (q *asking) roleOf(d types.Datum) (guard.OID, error) {
	if d.Form() != types.FormStr {
		return guard.OID(d.Int()), nil
	}
	if d.Str() == "public" {
		return 0, nil
	}
	r, ok := q.p.st.Role(d.Str())
	if !ok {
		return 0, sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", d.Str())
	}
	return r.OID, nil
}

// read reads SELECT, INSERT WITH GRANT OPTION.
func (q *asking) read(text, fn string) error {
	for _, w := range strings.Split(text, ",") {
		name := strings.ToUpper(strings.TrimSpace(w))
		name, option := strings.CutSuffix(name, " WITH GRANT OPTION")
		p, err := guard.PrivilegeOf(name)
		if err != nil || name == "RULE" {
			return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized privilege type: \"%s\"", strings.TrimSpace(w))
		}
		q.all = append(q.all, askedPrivilege{p, option})
	}
	return nil
}

// any answers with what is held of all.
func (q *asking) any(held, options guard.Privilege) types.Datum {
	for _, a := range q.all {
		if a.option && options&a.privilege != 0 || !a.option && held&a.privilege != 0 {
			return types.NewBool(true)
		}
	}
	return types.NewBool(false)
}

func (q *asking) super() bool {
	r, ok := q.p.st.RoleByOID(q.role)
	return ok && r.Super
}

// relation finds a table or view; system is one of PostgreSQL's own, ok false: there is none of the OID.
func (q *asking) relation(d types.Datum) (n guard.Name, uuid string, columns []string, system, ok bool, err error) {
	var rel *bind.Relation
	s := q.s
	if d.Form() == types.FormStr {
		parts, good := s.names().split(d.Str())
		if !good {
			return n, "", nil, false, false, sqlerr.New(sqlerr.InvalidName, "invalid name syntax")
		}
		rel, err = relations{s}.Relation(q.ctx, bind.TableRef{Parts: parts})
		if isNotFound(err) {
			err = sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", d.Str())
		}
		if err != nil {
			return n, "", nil, false, false, err
		}
	} else {
		schema, name, _, found, err := syscat.ByOID(q.ctx, s.sysHost(q.ctx, s.catalog), uint32(d.Int()))
		if err != nil || !found {
			return n, "", nil, false, false, err
		}
		rel, err = relations{s}.in(q.ctx, bind.TableRef{Parts: []string{schema, name}}, s.catalog, schema, name, suffix{})
		if isNotFound(err) {
			return n, "", nil, false, false, nil
		}
		if err != nil {
			return n, "", nil, false, false, err
		}
	}
	n, uuid = object(rel)
	if rel.TableSchema != nil {
		for i := range rel.TableSchema.Fields {
			columns = append(columns, rel.TableSchema.Fields[i].Name)
		}
	} else if rel.Virtual != nil {
		for _, f := range rel.Virtual.Fields() {
			columns = append(columns, f.Name)
		}
	} else if rel.View != nil {
		columns = rel.View.Columns
	}
	return n, uuid, columns, rel.Virtual != nil && rel.Of == nil || rel.Catalog == temporaryCatalog, true, nil
}

// systemHeld is what everybody may do with a system table.
func (q *asking) systemHeld(n guard.Name) guard.Privilege {
	if q.super() || n.Catalog == temporaryCatalog {
		return guard.Table.All()
	}
	if q.p.st.HasRightsOf(q.role, guard.ReadAllData) {
		return guard.Select
	}
	for _, x := range secret {
		if x == n.Namespace+"."+n.Table {
			return 0
		}
	}
	return guard.Select
}

func (q *asking) table(a []types.Datum) (types.Datum, error) {
	n, uuid, _, system, ok, err := q.relation(a[0])
	if err != nil || !ok {
		return types.Null, err
	}
	if system {
		return q.any(q.systemHeld(n), 0), nil
	}
	return q.any(q.p.st.Held(q.role, n, uuid), q.p.st.Grantable(q.role, n, uuid, "")), nil
}

func (q *asking) anyColumn(a []types.Datum) (types.Datum, error) {
	n, uuid, columns, system, ok, err := q.relation(a[0])
	if err != nil || !ok {
		return types.Null, err
	}
	if system {
		return q.any(q.systemHeld(n), 0), nil
	}
	held, options := q.p.st.Held(q.role, n, uuid)|q.p.st.HeldOnAnyColumn(q.role, n, uuid), q.p.st.Grantable(q.role, n, uuid, "")
	for _, c := range columns {
		options |= q.p.st.Grantable(q.role, n, uuid, c)
	}
	return q.any(held, options), nil
}

func (q *asking) column(a []types.Datum) (types.Datum, error) {
	n, uuid, columns, system, ok, err := q.relation(a[0])
	if err != nil || !ok {
		return types.Null, err
	}
	column := ""
	if a[1].Form() == types.FormStr {
		column = a[1].Str()
		found := false
		for _, c := range columns {
			found = found || c == column
		}
		if !found {
			return types.Null, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", column, n.Table)
		}
	} else {
		i := a[1].Int()
		if i < 1 || i > int64(len(columns)) {
			return types.Null, nil
		}
		column = columns[i-1]
	}
	if system {
		return q.any(q.systemHeld(n), 0), nil
	}
	return q.any(q.p.st.Held(q.role, n, uuid)|q.p.st.HeldOnColumn(q.role, n, uuid, column), q.p.st.Grantable(q.role, n, uuid, column)), nil
}

func (q *asking) schema(a []types.Datum) (types.Datum, error) {
	s := q.s
	name := ""
	if a[0].Form() == types.FormStr {
		name = a[0].Str()
		if _, ok := (systemSession{s}).ObjectOID("pg_namespace", syscat.Quote(name)); !ok {
			return types.Null, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", name)
		}
	} else {
		var ok bool
		if name, ok = syscat.SchemaName(q.ctx, s.sysHost(q.ctx, s.catalog), uint32(a[0].Int())); !ok {
			return types.Null, nil
		}
	}
	switch {
	case q.super():
		return q.any(guard.Schema.All(), guard.Schema.All()), nil
	case name == "pg_catalog" || name == "information_schema":
		return q.any(guard.Usage, 0), nil
	case s.temp != nil && name == s.temporarySchema():
		return q.any(guard.Schema.All(), 0), nil
	}
	n := schemaName(s.catalog, name)
	return q.any(q.p.st.Held(q.role, n, ""), q.p.st.Grantable(q.role, n, "", "")), nil
}

func (q *asking) database(a []types.Datum) (types.Datum, error) {
	for _, d := range q.s.engine.order {
		if a[0].Form() == types.FormStr && d == a[0].Str() || a[0].Form() != types.FormStr && syscat.DatabaseOID(d) == uint32(a[0].Int()) {
			n := guard.Name{Kind: guard.Database, Name: lake.Name{Catalog: d}}
			return q.any(q.p.st.Held(q.role, n, ""), q.p.st.Grantable(q.role, n, "", "")), nil
		}
	}
	if a[0].Form() == types.FormStr {
		return types.Null, sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist", a[0].Str())
	}
	return types.Null, nil
}

// member is pg_has_role: USAGE is to have the role's privileges, MEMBER to be a member of it, SET to be
// able to become it.
func (q *asking) member(a []types.Datum) (types.Datum, error) {
	of, err := q.roleOf(a[0])
	if err != nil {
		return types.Null, err
	}
	for _, w := range strings.Split(strings.ToUpper(a[1].Str()), ",") {
		has := false
		switch strings.TrimSpace(w) {
		case "USAGE":
			has = q.p.st.HasRightsOf(q.role, of)
		case "MEMBER":
			has = q.p.st.IsMember(q.role, of)
		case "SET":
			has = q.p.st.MaySet(q.role, of)
		case "USAGE WITH GRANT OPTION", "USAGE WITH ADMIN OPTION", "MEMBER WITH GRANT OPTION", "MEMBER WITH ADMIN OPTION", "SET WITH GRANT OPTION", "SET WITH ADMIN OPTION":
			has = q.p.st.IsAdmin(q.role, of)
		default:
			return types.Null, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized privilege type: \"%s\"", strings.TrimSpace(w))
		}
		if has {
			return types.NewBool(true), nil
		}
	}
	return types.NewBool(false), nil
}
