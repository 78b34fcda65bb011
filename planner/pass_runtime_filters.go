package planner

import "github.com/lhsql/lhsql/plan"

// runtimeFilters gives the scans on a hash join's probe side the keys of its build side, found
// at run time, so that they skip files, row groups and rows without partner:
//
//	probe ⋈(k) build:  only probe rows whose k is among the build's can leave.
//
// Only where a probe row without partner leaves no trace: not for the kept side of an outer
// join, not for the left of an anti or mark join. NULL-safe keys have none: NULL would have to
// be a value.
func runtimeFilters(env *Env, n plan.Node) (plan.Node, error) {
	est := env.cards
	if est == nil {
		est = newEstimator(n)
	}
	return env.giveFilters(n, est), nil
}

// giveFilters works bottom-up, so that a join's probe side is final when its scans are told.
// What runs more than once, an Apply's right side and a recursive step, gets none: a filter
// is filled once.
func (env *Env) giveFilters(n plan.Node, est *estimator) plan.Node {
	switch m := n.(type) {
	case *plan.Apply:
		return m.WithInputs(env.giveFilters(m.Left, est), m.Right)
	case *plan.With:
		for _, c := range m.CTEs {
			c.Plan = withColumns(env.giveFilters(c.Plan, est), c.Plan.Columns())
		}
		return &plan.With{CTEs: m.CTEs, Body: env.giveFilters(m.Body, est)}
	}
	n, _ = env.mapInputs(n, func(x plan.Node) (plan.Node, error) { return env.giveFilters(x, est), nil })
	if j, ok := n.(*plan.Join); ok && j.Method == plan.HashJoin && probeMayLose(j) {
		return giveJoinFilters(j, est)
	}
	return n
}

func giveJoinFilters(j *plan.Join, est *estimator) plan.Node {
	probe, build, keys := j.Left, j.Right, j.LeftKeys
	if j.BuildLeft {
		probe, build, keys = j.Right, j.Left, j.RightKeys
	}
	if !selective(build) && est.of(build) > est.of(probe)/4 {
		return j
	}
	filters := make([]*plan.RuntimeFilter, len(keys))
	found := false
	for i, k := range keys {
		if j.NullSafe[i] {
			continue
		}
		f := &plan.RuntimeFilter{}
		if p, ok := reachScan(probe, k, f); ok {
			probe, filters[i], found = p, f, true
		}
	}
	if !found {
		return j
	}
	m := *j
	m.Filters = filters
	if j.BuildLeft {
		m.Right = probe
	} else {
		m.Left = probe
	}
	est.rows[&m] = est.of(j)
	return &m
}

// probeMayLose tells whether probe rows without partner may be dropped before the join.
func probeMayLose(j *plan.Join) bool {
	switch j.Kind {
	case plan.InnerJoin, plan.SemiJoin:
		return true
	case plan.LeftJoin, plan.SingleJoin, plan.AntiJoin:
		return j.BuildLeft // the right side is probed; its rows without partner do not leave
	case plan.RightJoin:
		return !j.BuildLeft
	}
	return false
}

// selective tells whether anything below n restricts its rows.
func selective(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Filter:
		return true
	case *plan.Scan:
		return n.Pred != nil
	case *plan.Limit, *plan.Values:
		return true
	}
	for _, in := range n.Inputs() {
		if selective(in) {
			return true
		}
	}
	return false
}

// reachScan hands a filter on key down to the scan that makes its columns, through operators
// that a row without its key's partner could be dropped below of as well as above.
func reachScan(n plan.Node, key plan.Expr, f *plan.RuntimeFilter) (plan.Node, bool) {
	switch m := n.(type) {
	case *plan.Scan:
		if !plan.Made(m).Contains(plan.ExprCols(key)) || len(plan.ExprCols(key)) == 0 {
			return n, false
		}
		s := *m
		f.Expr = key
		s.RuntimeFilters = append(append([]*plan.RuntimeFilter(nil), m.RuntimeFilters...), f)
		return &s, true
	case *plan.Virtual:
		if _, bare := key.(*plan.Col); !bare || !plan.Made(m).Contains(plan.ExprCols(key)) {
			return n, false
		}
		s := *m
		f.Expr = key
		s.RuntimeFilters = append(append([]*plan.RuntimeFilter(nil), m.RuntimeFilters...), f)
		return &s, true
	case *plan.Filter:
		return reachInput(n, m.Input, key, f)
	case *plan.Sort:
		if !m.HasLimit {
			return reachInput(n, m.Input, key, f)
		}
	case *plan.Project:
		return reachInput(n, m.Input, through(m.Exprs, key), f)
	case *plan.Aggregate:
		if m.Sets == nil && len(m.Groups) > 0 && namedCols(m.Groups).Contains(plan.ExprCols(key)) {
			return reachInput(n, m.Input, through(m.Groups, key), f)
		}
	case *plan.Window:
		if bareCols(m.Partition).Contains(plan.ExprCols(key)) {
			return reachInput(n, m.Input, key, f)
		}
	case *plan.Distinct:
		if m.On == nil {
			return reachInput(n, m.Input, key, f)
		}
	case *plan.Join:
		return reachJoin(m, key, f)
	}
	return n, false
}

func reachInput(n, in plan.Node, key plan.Expr, f *plan.RuntimeFilter) (plan.Node, bool) {
	if key == nil || plan.IsVolatile(key) {
		return n, false
	}
	p, ok := reachScan(in, key, f)
	if !ok {
		return n, false
	}
	return n.WithInputs(p), true
}

// reachJoin: rows may be dropped on a side whose rows without partner do not leave with NULLs
// in their place.
func reachJoin(j *plan.Join, key plan.Expr, f *plan.RuntimeFilter) (plan.Node, bool) {
	cols := plan.ExprCols(key)
	left := plan.SetOf(j.Left.Columns()).Contains(cols)
	right := plan.SetOf(j.Right.Columns()).Contains(cols)
	switch {
	case left && j.Kind != plan.RightJoin && j.Kind != plan.FullJoin:
		if p, ok := reachScan(j.Left, key, f); ok {
			return j.WithInputs(p, j.Right), true
		}
	case right && (j.Kind == plan.InnerJoin || j.Kind == plan.RightJoin):
		if p, ok := reachScan(j.Right, key, f); ok {
			return j.WithInputs(j.Left, p), true
		}
	}
	return j, false
}

func namedCols(list []plan.Named) plan.ColSet {
	s := plan.ColSet{}
	for _, e := range list {
		s.Add(e.Col.ID)
	}
	return s
}

func through(list []plan.Named, key plan.Expr) plan.Expr {
	m := map[plan.ColID]plan.Expr{}
	for _, e := range list {
		m[e.Col.ID] = e.Expr
	}
	return plan.Substitute(key, m)
}
