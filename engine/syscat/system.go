package syscat

import (
	"context"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/types"
)

// SystemSchema is the schema of the server's own views and procedures.
const SystemSchema = "system"

// System is a Host whose server has views and procedures of its own.
type System interface {
	SystemViews() []SystemView
	Procedures() []Procedure
}

// SystemView is a view of the server's; its rows are none of this package's business.
type SystemView struct {
	Name   string
	Fields []types.Field
}

// Procedure is what CALL may name. The first Required parameters must be given.
type Procedure struct {
	Name     string
	Params   []types.Field
	Required int
}

// systemOf gives what a Host's server has of its own, sorted by name.
func systemOf(h Host) ([]SystemView, []Procedure) {
	s, ok := h.(System)
	if !ok {
		return nil, nil
	}
	views, procs := s.SystemViews(), s.Procedures()
	slices.SortFunc(views, func(a, b SystemView) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(procs, func(a, b Procedure) int { return strings.Compare(a.Name, b.Name) })
	return views, procs
}

// item is the view among a database's relations.
func (v SystemView) item(db string) item {
	d := &def{schema: SystemSchema, name: v.Name, oid: OID(db, SystemSchema, v.Name), view: true, fields: v.Fields}
	return item{schema: SystemSchema, entry: Entry{Name: v.Name, View: true}, oid: d.oid, def: d}
}

// OID is the procedure's in a database.
func (p Procedure) OID(db string) uint32 { return hashOID("procedure", db, p.Name) }

// ProcedureOf finds a procedure by OID.
func ProcedureOf(h Host, oid uint32) (Procedure, bool) {
	_, list := systemOf(h)
	for _, p := range list {
		if p.OID(h.Database()) == oid {
			return p, true
		}
	}
	return Procedure{}, false
}

// Arguments is pg_get_function_arguments of the procedure, IdentityArguments the same without defaults.
func (p Procedure) Arguments() string         { return p.arguments(true) }
func (p Procedure) IdentityArguments() string { return p.arguments(false) }

func (p Procedure) arguments(defaults bool) string {
	out := make([]string, len(p.Params))
	for i, f := range p.Params {
		out[i] = "IN " + Quote(f.Name) + " " + f.Type.String()
		if defaults && i >= p.Required {
			out[i] += " DEFAULT NULL"
		}
	}
	return strings.Join(out, ", ")
}

// procedures gives the rows of pg_proc of the server's procedures.
func (q *query) procedures(_ context.Context, wanted func(oid uint32, name string) bool) error {
	db := q.host.Database()
	_, list := systemOf(q.host)
	for _, p := range list {
		oid := p.OID(db)
		if !wanted(oid, p.Name) {
			continue
		}
		var args []int
		var names []string
		for _, f := range p.Params {
			args, names = append(args, int(f.Type.OID())), append(names, f.Name)
		}
		const void = 2278
		if err := q.row("proargnames", names, "oid", oid, "proname", p.Name, "pronamespace", SchemaOID(db, SystemSchema), "proowner", ownerOID,
			"prolang", 12, "procost", 1.0, "prorows", 0.0, "provariadic", 0, "prosupport", 0, "prokind", "p", "prosecdef", false, "proleakproof", false,
			"proisstrict", false, "proretset", false, "provolatile", "v", "proparallel", "u", "pronargs", len(args),
			"pronargdefaults", len(args)-p.Required, "prorettype", void, "proargtypes", args, "prosrc", p.Name); err != nil {
			return err
		}
	}
	return nil
}
