package engine

import (
	"context"
	"strings"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/maintain"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// vacuum runs VACUUM [FULL] [t, …], without names on all tables of the database. As PostgreSQL's it
// reclaims what deleted rows cost, and changes nothing that anybody could ask for: files too small or
// with many deleted rows are rewritten, delete files brought together, manifests clustered. History is
// only forgotten where the table says for how long it is to be kept (history.expire.…): tools send
// VACUUM on their own account. FULL rewrites every file that has deletes.
func (s *Session) vacuum(ctx context.Context, c *bind.ProcedureCall, r *Result) error {
	r.verb = "VACUUM"
	full := false
	var list []*procedureArgs
	for _, arg := range c.Args {
		if arg.Name == "full" {
			full = true
			continue
		}
		list = append(list, &procedureArgs{name: "vacuum", vals: map[string]bind.Constant{"table": arg.Constant}, result: r})
	}
	for _, a := range list { // before anything is done
		if _, err := a.table(ctx, s); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		err := s.eachTable(ctx, nil, func(n lake.Name) error {
			name := types.NewStr(s.names().quote(n.Namespace) + "." + s.names().quote(n.Table))
			list = append(list, &procedureArgs{name: "vacuum", vals: map[string]bind.Constant{"table": {Value: name, Typ: types.T(types.Text)}}, result: r})
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, a := range list {
		if err := s.vacuumTable(ctx, a, full); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) vacuumTable(ctx context.Context, a *procedureArgs, full bool) error {
	spec := maintain.RewriteSpec{Statement: "VACUUM"}
	if full {
		spec.Options = map[string]string{"delete-file-threshold": "1"}
	}
	return s.rewriting(ctx, a, func(g maintain.Target, env maintain.RewriteEnv) (string, error) {
		did, err := maintain.Vacuum(ctx, g, env, spec)
		for _, d := range did {
			a.result.warn("00000", "%s: %s", g.Table.Name.Table, d)
		}
		return strings.Join(did, ", "), err
	})
}
