package syscat

import (
	"context"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/types"
)

// System is a Host whose server has procedures of its own.
type System interface {
	Procedures() []Procedure
}

// Procedure is what CALL may name. The first Required parameters must be given.
type Procedure struct {
	Name     string
	Params   []types.Field
	Required int
}

// proceduresOf gives the procedures of a Host's server, sorted by name.
func proceduresOf(h Host) []Procedure {
	s, ok := h.(System)
	if !ok {
		return nil
	}
	list := s.Procedures()
	slices.SortFunc(list, func(a, b Procedure) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// OID is the procedure's in a database.
func (p Procedure) OID(db string) uint32 { return hashOID("procedure", db, p.Name) }

// ProcedureOf finds a procedure by OID.
func ProcedureOf(h Host, oid uint32) (Procedure, bool) {
	for _, p := range proceduresOf(h) {
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

// procedures gives the rows of pg_proc of the server's procedures. They are in pg_catalog, as what is
// built in: a schema of their own would be one more in every tool's list of schemas.
func (q *query) procedures(_ context.Context, wanted func(oid uint32, name string) bool) error {
	db := q.host.Database()
	for _, p := range proceduresOf(q.host) {
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
		if err := q.row("proargnames", names, "oid", oid, "proname", p.Name, "pronamespace", pgCatalogOID, "proowner", ownerOID,
			"prolang", 12, "procost", 1.0, "prorows", 0.0, "provariadic", 0, "prosupport", 0, "prokind", "p", "prosecdef", false, "proleakproof", false,
			"proisstrict", false, "proretset", false, "provolatile", "v", "proparallel", "u", "pronargs", len(args),
			"pronargdefaults", len(args)-p.Required, "prorettype", void, "proargtypes", args, "prosrc", p.Name); err != nil {
			return err
		}
	}
	return nil
}
