package engine

import (
	"context"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/engine/syscat"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// systemSession answers what system functions ask of the session; it implements eval.Session.
type systemSession struct{ s *Session }

func (x systemSession) User() string         { return x.s.currentUser() }
func (x systemSession) Database() string     { return x.s.names().database() }
func (x systemSession) SearchPath() []string { return x.s.lookupPath() }
func (x systemSession) BackendPID() int32    { return x.s.pid }

func (x systemSession) LastNumber() (int64, bool) { return x.s.lastNumber, x.s.lastNumber != 0 }

// currentUser is who the session acts as: what SET ROLE chose, else what SET SESSION AUTHORIZATION
// did, else who logged in. Commits name the last one, whatever was chosen.
func (s *Session) currentUser() string {
	if role, _ := s.settings.get("role"); role != "none" {
		return role
	}
	user, _ := s.settings.get("session_authorization")
	return user
}

func (x systemSession) Setting(name string) (string, bool) {
	v, ok := x.s.settings.get(name)
	if d := settingIndex[canonicalSetting(name)]; ok && d != nil {
		v = d.show(v)
	}
	return v, ok
}

func (x systemSession) SetSetting(name, value string, local bool) error {
	if mode, ok := transactionMode(name); ok {
		return x.s.setMode(mode, value)
	}
	return x.s.settings.set(name, &value, local, x.s.tx.block)
}

// lookupPath is existingPath with the session's temporary tables in their place.
func (s *Session) lookupPath() []string { return s.withTemporary(s.existingPath()) }

// existingPath is the search path without schemas that do not exist.
func (s *Session) existingPath() []string {
	h := s.sysHost(context.Background(), s.catalog)
	list, err := h.Namespaces(context.Background())
	if err != nil {
		return []string{"pg_catalog"}
	}
	exists := map[string]bool{"pg_catalog": true, "information_schema": true, "public": true}
	for _, n := range list {
		exists[n] = true
	}
	var out []string
	for _, n := range s.searchPath() {
		if exists[n] {
			out = append(out, n)
		}
	}
	return out
}

// visible tells whether an unqualified name finds schema's relation.
func (s *Session) visible(ctx context.Context, schema, name string) bool {
	h := s.sysHost(ctx, s.catalog)
	for _, p := range s.lookupPath() {
		if p == schema {
			return true
		}
		if syscat.Exists(ctx, h, p, name) {
			return false
		}
	}
	return false
}

// ObjectName implements eval.Session.
func (x systemSession) ObjectName(catalog string, oid uint32) (string, bool) {
	ctx := context.Background()
	s := x.s
	h := s.sysHost(ctx, s.catalog)
	switch catalog {
	case "pg_class":
		schema, name, _, ok, err := syscat.ByOID(ctx, h, oid)
		if err != nil || !ok {
			return "", false
		}
		if s.visible(ctx, schema, name) {
			return syscat.Quote(name), true
		}
		return syscat.Quote(schema) + "." + syscat.Quote(name), true
	case "pg_namespace":
		return syscat.SchemaName(ctx, h, oid)
	case "pg_type":
		if t, ok := types.FromOID(oid); ok {
			return t.String(), true
		}
		return syscat.TypeName(oid)
	case "pg_proc":
		if name, ok := syscat.FunctionName(oid); ok {
			return name, true
		}
		p, ok := syscat.ProcedureOf(h, oid) // few and rare: asked for last
		return p.Name, ok
	case "pg_operator":
		if f := syscat.Operator(oid); f != nil {
			return f.Name, true
		}
	case "regoperator":
		if f := syscat.Operator(oid); f != nil {
			return syscat.OperatorSignature(f), true
		}
	case "regprocedure":
		if f := syscat.Function(oid); f != nil {
			return syscat.Signature(f), true
		}
		return x.ObjectName("pg_proc", oid)
	case "pg_authid", "pg_roles":
		return syscat.RoleName(h, oid)
	case "pg_database":
		for _, d := range h.Databases() {
			if syscat.DatabaseOID(d) == oid {
				return d, true
			}
		}
	}
	return "", false
}

// ObjectOID implements eval.Session.
func (x systemSession) ObjectOID(catalog, name string) (uint32, bool) {
	ctx := context.Background()
	s := x.s
	h := s.sysHost(ctx, s.catalog)
	switch catalog {
	case "pg_operator":
		return syscat.OperatorOID(strings.TrimPrefix(strings.TrimSpace(name), "pg_catalog."), nil)
	case "regoperator", "regprocedure":
		return s.bySignature(ctx, catalog, name)
	}
	parts, ok := splitQualified(name)
	if !ok || len(parts) == 0 {
		return 0, false
	}
	last := parts[len(parts)-1]
	switch catalog {
	case "pg_class":
		return s.relationOID(ctx, parts)
	case "pg_namespace":
		list, err := h.Namespaces(ctx)
		if err != nil {
			return 0, false
		}
		for _, n := range append([]string{"pg_catalog", "information_schema", "public"}, list...) {
			if n == last {
				return syscat.SchemaOID(s.catalog, n), true
			}
		}
	case "pg_type":
		if oid, ok := syscat.TypeOID(last); ok {
			return oid, true
		}
		return s.spelledType(ctx, name)
	case "pg_proc":
		return syscat.FunctionOID(last)
	case "pg_authid", "pg_roles":
		if l, err := h.Lock(ctx); err == nil && l != nil {
			r, ok := l.State.Role(last)
			if !ok {
				return 0, false
			}
			return r.OID, true
		}
		if last == s.opts.User {
			return 10, true
		}
		if oid, ok := syscat.PredefinedRole(last); ok {
			return oid, true
		}
		for _, u := range h.Users() {
			if u == last {
				return syscat.RoleOID(u), true
			}
		}
	case "pg_database":
		if s.engine.catalogs[last] != nil {
			return syscat.DatabaseOID(last), true
		}
	}
	return 0, false
}

// spelledType finds a type by any of SQL's spellings: double precision, varchar(3), int[]. As
// PostgreSQL's parseTypeString does, it has the grammar read a cast to it.
func (s *Session) spelledType(ctx context.Context, name string) (uint32, bool) {
	list, err := s.dialect.parse("SELECT NULL::" + name)
	if err != nil || len(list) != 1 {
		return 0, false
	}
	q, ok := list[0].Stmt.(*ast.QueryStmt)
	if !ok || q.Query.With != nil || q.Query.OrderBy != nil || q.Query.Limit != nil || q.Query.Offset != nil {
		return 0, false
	}
	sel, ok := q.Query.Body.(*ast.Select)
	if !ok || len(sel.Items) != 1 || sel.Items[0].Alias != "" || sel.From != nil || sel.Where != nil || sel.GroupBy != nil || sel.Having != nil {
		return 0, false
	}
	c, ok := sel.Items[0].Expr.(*ast.Cast)
	if !ok {
		return 0, false
	}
	if _, ok := c.X.(*ast.Lit); !ok {
		return 0, false
	}
	b, err := bind.Bind(s.bindEnv(ctx, nil), list[0], nil)
	if err != nil {
		return 0, false
	}
	return b.Columns[0].Type.OID(), true
}

func (s *Session) relationOID(ctx context.Context, parts []string) (uint32, bool) {
	h := s.sysHost(ctx, s.catalog)
	name := parts[len(parts)-1]
	path := s.lookupPath()
	if len(parts) > 1 {
		if len(parts) > 2 && parts[0] == s.catalog {
			parts = parts[1:]
		}
		path = []string{strings.Join(parts[:len(parts)-1], ".")}
		if path[0] == "pg_temp" {
			path[0] = s.temporarySchema()
		}
	}
	for _, schema := range path {
		if syscat.Exists(ctx, h, schema, name) {
			return syscat.OID(s.catalog, schema, name), true
		}
		if oid, ok := syscat.KeyOID(ctx, h, schema, name); ok {
			return oid, true
		}
	}
	return 0, false
}

// splitQualified reads a dotted, possibly quoted name, as PostgreSQL writes it.
func splitQualified(name string) ([]string, bool) { return splitName(name, '"', strings.ToLower) }

// splitName reads a dotted name whose parts may be quoted; plain is what becomes of one that is not.
func splitName(name string, quote byte, plain func(string) string) ([]string, bool) {
	var out []string
	for s := strings.TrimSpace(name); ; {
		var part string
		if s != "" && s[0] == quote {
			end := 1
			for {
				j := strings.IndexByte(s[end:], quote)
				if j < 0 {
					return nil, false
				}
				part += s[end : end+j]
				end += j + 1
				if end >= len(s) || s[end] != quote {
					break
				}
				part, end = part+string(rune(quote)), end+1
			}
			s = strings.TrimLeft(s[end:], " \t\n")
		} else {
			j := strings.IndexByte(s, '.')
			if j < 0 {
				j = len(s)
			}
			part, s = strings.TrimRight(plain(s[:j]), " \t\n"), s[j:]
		}
		out = append(out, part)
		if s == "" {
			return out, true
		}
		if s[0] != '.' {
			return nil, false
		}
		s = strings.TrimLeft(s[1:], " \t\n")
	}
}

// Call implements eval.Session: the functions that need catalogs or other sessions.
func (x systemSession) Call(ctx context.Context, fn string, args []types.Datum) (types.Datum, bool, error) {
	f, ok := systemFunctions[fn]
	if isPrivilegeFunction(fn) && x.s.engine.guard != nil {
		f, ok = privilegeFunctions[fn]
	}
	if !ok {
		return types.Null, false, nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	for _, a := range args {
		if a.IsNull() {
			return types.Null, true, nil
		}
	}
	d, err := f(ctx, x.s, args)
	return d, true, err
}

// systemFunctions take no NULLs; a missing object gives NULL, as in PostgreSQL.
var systemFunctions map[string]func(context.Context, *Session, []types.Datum) (types.Datum, error)

func init() {
	systemFunctions = map[string]func(context.Context, *Session, []types.Datum) (types.Datum, error){
		"pg_cancel_backend": func(ctx context.Context, s *Session, a []types.Datum) (types.Datum, error) {
			return s.signal(ctx, a[0].Int(), (*Session).Cancel)
		},
		"pg_terminate_backend": func(ctx context.Context, s *Session, a []types.Datum) (types.Datum, error) {
			return s.signal(ctx, a[0].Int(), (*Session).Terminate)
		},
		"pg_my_temp_schema": func(_ context.Context, s *Session, _ []types.Datum) (types.Datum, error) {
			if s.temp == nil {
				return types.NewInt(0), nil
			}
			return types.NewInt(int64(syscat.SchemaOID(s.catalog, s.temporarySchema()))), nil
		},
		"pg_table_is_visible":    tableIsVisible,
		"pg_get_viewdef":         getViewdef,
		"pg_get_indexdef":        getIndexdef,
		"pg_get_constraintdef":   getConstraintdef,
		"pg_get_partkeydef":      getPartkeydef,
		"obj_description":        objDescription,
		"col_description":        colDescription,
		"pg_relation_size":       relationSize,
		"pg_table_size":          relationSize,
		"pg_total_relation_size": relationSize,
		"pg_database_size":       databaseSize,
		"pg_get_function_arguments": func(_ context.Context, s *Session, a []types.Datum) (types.Datum, error) {
			if f := syscat.Function(uint32(a[0].Int())); f != nil {
				return types.NewStr(syscat.Arguments(f)), nil
			}
			return s.ofProcedure(a, syscat.Procedure.Arguments)
		},
		"pg_get_function_result": func(_ context.Context, _ *Session, a []types.Datum) (types.Datum, error) {
			if f := syscat.Function(uint32(a[0].Int())); f != nil {
				return types.NewStr(syscat.Result(f)), nil
			}
			return types.Null, nil
		},
		"pg_postmaster_start_time": func(_ context.Context, s *Session, _ []types.Datum) (types.Datum, error) {
			return types.NewInt(s.engine.started.UnixMicro()), nil
		},
	}
}

// signal acts on another session of the same server.
func (s *Session) signal(ctx context.Context, pid int64, f func(*Session)) (types.Datum, error) {
	t := s.engine.session(int32(pid))
	if t == nil {
		return types.NewBool(false), nil
	}
	if err := s.signals(ctx, t); err != nil {
		return types.Null, err
	}
	f(t)
	return types.NewBool(true), nil
}

// relationArg finds the relation that an OID argument means.
func relationArg(ctx context.Context, s *Session, oid int64) (schema string, r *syscat.Relation, err error) {
	h := s.sysHost(ctx, s.catalog)
	schema, name, _, ok, err := syscat.ByOID(ctx, h, uint32(oid))
	if err != nil || !ok {
		return "", nil, err
	}
	if _, system := syscat.Table(h, schema, name); system {
		return schema, nil, nil
	}
	r, err = h.Relation(ctx, schema, name)
	if isNotFound(err) {
		return schema, nil, nil
	}
	return schema, r, err
}

func tableIsVisible(ctx context.Context, s *Session, a []types.Datum) (types.Datum, error) {
	schema, name, _, ok, err := syscat.ByOID(ctx, s.sysHost(ctx, s.catalog), uint32(a[0].Int()))
	if err != nil || !ok {
		return types.Null, err
	}
	return types.NewBool(s.visible(ctx, schema, name)), nil
}

func getViewdef(ctx context.Context, s *Session, a []types.Datum) (types.Datum, error) {
	if a[0].Form() != types.FormI64 {
		oid, ok := s.relationOIDByText(ctx, a[0].Str())
		if !ok {
			return types.Null, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", a[0].Str())
		}
		a = []types.Datum{types.NewInt(int64(oid))}
	}
	_, r, err := relationArg(ctx, s, a[0].Int())
	if err != nil || r == nil || !r.View {
		return types.Null, err
	}
	return types.NewStr(" " + strings.TrimSuffix(strings.TrimSpace(r.SQL), ";") + ";"), nil
}

func (s *Session) relationOIDByText(ctx context.Context, name string) (uint32, bool) {
	parts, ok := splitQualified(name)
	if !ok {
		return 0, false
	}
	return s.relationOID(ctx, parts)
}

// keyOf finds the relation and the key whose index or constraint has the OID.
func keyOf(ctx context.Context, s *Session, oid int64) (schema string, r *syscat.Relation, k syscat.Key, err error) {
	return syscat.KeyByOID(ctx, s.sysHost(ctx, s.catalog), uint32(oid))
}

func getIndexdef(ctx context.Context, s *Session, a []types.Datum) (types.Datum, error) {
	schema, r, k, err := keyOf(ctx, s, a[0].Int())
	if err != nil || r == nil {
		return types.Null, err
	}
	if len(a) > 1 && a[1].Int() > 0 {
		if n := int(a[1].Int()); n <= len(k.Columns) {
			return types.NewStr(syscat.Quote(r.Columns[k.Columns[n-1]].Name)), nil
		}
		return types.NewStr(""), nil
	}
	return types.NewStr(k.IndexDefinition(schema, r)), nil
}

func getConstraintdef(ctx context.Context, s *Session, a []types.Datum) (types.Datum, error) {
	if text, ok := s.constraintDefs.Load(uint32(a[0].Int())); ok {
		return types.NewStr(text.(string)), nil
	}
	_, r, k, err := keyOf(ctx, s, a[0].Int())
	if err != nil || r == nil {
		return types.Null, err
	}
	return types.NewStr(k.Definition(r)), nil
}

func getPartkeydef(ctx context.Context, s *Session, a []types.Datum) (types.Datum, error) {
	_, r, err := relationArg(ctx, s, a[0].Int())
	if err != nil || r == nil || r.Partition == "" {
		return types.Null, err
	}
	return types.NewStr("(" + r.Partition + ")"), nil
}

func objDescription(ctx context.Context, s *Session, a []types.Datum) (types.Datum, error) {
	if len(a) > 1 && a[1].Str() != "pg_class" {
		if a[1].Str() == "pg_namespace" && syscat.IsPublic(uint32(a[0].Int())) {
			return types.NewStr(syscat.PublicComment), nil
		}
		return types.Null, nil
	}
	_, r, err := relationArg(ctx, s, a[0].Int())
	if err != nil || r == nil || r.Comment == "" {
		return types.Null, err
	}
	return types.NewStr(r.Comment), nil
}

func colDescription(ctx context.Context, s *Session, a []types.Datum) (types.Datum, error) {
	_, r, err := relationArg(ctx, s, a[0].Int())
	if err != nil || r == nil {
		return types.Null, err
	}
	if n := int(a[1].Int()); n >= 1 && n <= len(r.Columns) && r.Columns[n-1].Comment != "" {
		return types.NewStr(r.Columns[n-1].Comment), nil
	}
	return types.Null, nil
}

func relationSize(ctx context.Context, s *Session, a []types.Datum) (types.Datum, error) {
	if a[0].Form() == types.FormStr {
		oid, err := strconv.ParseInt(a[0].Str(), 10, 64)
		if err != nil {
			return types.Null, nil
		}
		a = []types.Datum{types.NewInt(oid)}
	}
	_, r, err := relationArg(ctx, s, a[0].Int())
	if err != nil {
		return types.Null, err
	}
	if r == nil {
		return types.NewInt(0), nil
	}
	return types.NewInt(r.Bytes), nil
}

// databaseSize is what the tables of a database hold, each as pg_total_relation_size says: their
// metadata is read for it.
func databaseSize(ctx context.Context, s *Session, a []types.Datum) (types.Datum, error) {
	for name := range s.engine.catalogs {
		if a[0].Form() == types.FormStr && name == a[0].Str() || a[0].Form() != types.FormStr && int64(syscat.DatabaseOID(name)) == a[0].Int() {
			n, err := syscat.TotalBytes(ctx, s.newHost(name))
			return types.NewInt(n), err
		}
	}
	if a[0].Form() == types.FormStr {
		return types.Null, sqlerr.New(sqlerr.InvalidCatalogName, "database %q does not exist", a[0].Str())
	}
	return types.Null, nil
}

// bySignature finds a function or operator by its name and the types of its arguments, such as
// abs(integer) or +(int, int4); NONE is the argument that a prefix operator lacks.
func (s *Session) bySignature(ctx context.Context, catalog, text string) (uint32, bool) {
	text = strings.TrimSpace(text)
	open := strings.IndexByte(text, '(')
	if open < 0 || text[len(text)-1] != ')' {
		return 0, false
	}
	name := strings.TrimSpace(text[:open])
	args := []uint32{}
	if list := strings.TrimSpace(text[open+1 : len(text)-1]); list != "" {
		for _, spelled := range splitTypes(list) {
			if catalog == "regoperator" && strings.EqualFold(spelled, "none") {
				args = append(args, 0)
				continue
			}
			oid, ok := systemSession{s}.ObjectOID("pg_type", spelled)
			if !ok {
				return 0, false
			}
			args = append(args, oid)
		}
	}
	if catalog == "regoperator" {
		return syscat.OperatorOID(strings.TrimPrefix(name, "pg_catalog."), args)
	}
	parts, ok := splitQualified(name)
	if !ok || len(parts) > 1 && parts[len(parts)-2] != "pg_catalog" {
		return 0, false
	}
	return syscat.ProcedureOID(parts[len(parts)-1], args)
}

// splitTypes takes a list of types apart at the commas that are in no parentheses.
func splitTypes(list string) []string {
	var out []string
	depth, from := 0, 0
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				out, from = append(out, strings.TrimSpace(list[from:i])), i+1
			}
		}
	}
	return append(out, strings.TrimSpace(list[from:]))
}
