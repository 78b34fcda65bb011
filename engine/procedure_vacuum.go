package engine

import (
	"context"
	"slices"
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
	args := slices.DeleteFunc(slices.Clone(c.Args), func(a bind.ProcedureArg) bool {
		full = full || a.Name == "full"
		return a.Name == "full"
	})
	list, err := s.tablesNamed(ctx, "vacuum", args, r)
	if err != nil {
		return err
	}
	for _, a := range list {
		if err := s.vacuumTable(ctx, a, full); err != nil {
			return err
		}
	}
	return nil
}

// tablesNamed are the arguments of a statement over tables, each with its columns; without names they are
// all tables of the database.
func (s *Session) tablesNamed(ctx context.Context, name string, args []bind.ProcedureArg, r *Result) ([]*procedureArgs, error) {
	var list []*procedureArgs
	one := func(table bind.Constant) {
		list = append(list, &procedureArgs{name: name, vals: map[string]bind.Constant{"table": table}, call: &bind.ProcedureCall{}, result: r})
	}
	for _, arg := range args {
		if arg.Name == "column" {
			a := list[len(list)-1]
			a.columns = append(a.columns, arg.Value.Str())
			continue
		}
		one(arg.Constant)
	}
	for _, a := range list { // before anything is done
		if _, err := a.table(ctx, s); err != nil {
			return nil, err
		}
	}
	if len(args) > 0 {
		return list, nil
	}
	err := s.eachTable(ctx, nil, func(n lake.Name) error {
		if may, err := s.maintainsTable(ctx, n); err != nil || !may {
			return err
		}
		one(bind.Constant{Value: types.NewStr(s.names().quote(n.Namespace) + "." + s.names().quote(n.Table)), Typ: types.T(types.Text)})
		return nil
	})
	return list, err
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
