// Package dml answers: how does a write statement become a query with a sink, files, and a
// commit?
//
// In: the declarative nodes that bind makes (plan.Insert, Update, Delete, Merge). Out: plan.Write
// over ordinary nodes (lower_*.go), so that pushdown, pruning and join choice serve writes for
// nothing; and the Sink that exec feeds with rows and addresses (sink*.go), which writes data
// files and delete files and describes the change for lake to commit. It refuses to know how
// joins run, how files are pruned, and how a commit is validated.
package dml

import (
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// Lower turns a write statement into a Write; other nodes pass unchanged. newID makes column ids
// that the statement does not use yet.
func Lower(n plan.Node, newID func() plan.ColID) (plan.Node, error) {
	l := &lowering{newID: newID}
	switch n := n.(type) {
	case *plan.With:
		// WITH … INSERT: the CTEs serve the statement's source.
		body, err := Lower(n.Body, newID)
		if err != nil {
			return nil, err
		}
		if w, ok := body.(*plan.Write); ok {
			m := *w
			m.Input = &plan.With{CTEs: n.CTEs, Body: w.Input}
			return &m, nil
		}
		return n, nil
	}
	w, err := l.lower(n)
	if w == nil || err != nil {
		return n, err
	}
	ordered(w)
	checked(w)
	for i, x := range w.Row {
		if f := &w.Target.Schema.Fields[i]; eval.Encodes(f.Type) {
			w.Row[i] = eval.EncodeExpr(x, f.Type, f.Stored(), f.Name)
		}
	}
	return w, nil
}

// lower is Lower of the statement itself; nil for other nodes.
func (l *lowering) lower(n plan.Node) (*plan.Write, error) {
	switch n := n.(type) {
	case *plan.Insert:
		return l.insert(n)
	case *plan.Update:
		return l.update(n)
	case *plan.Delete:
		return l.delete(n)
	case *plan.Merge:
		return l.merge(n)
	case *plan.Replace:
		return l.replace(n)
	}
	return nil, nil
}

type lowering struct{ newID func() plan.ColID }

func (l *lowering) column(name string, t types.Type) plan.Column {
	return plan.Column{ID: l.newID(), Name: name, Type: t}
}

// ref reads a column; nil where there is none.
func ref(c plan.Column) plan.Expr {
	if c.ID == 0 {
		return nil
	}
	return plan.ColOf(c)
}

// mode reads a write mode property: copy-on-write unless merge-on-read is asked for and the
// format has row-level deletes.
func copyOnWrite(t plan.WriteTarget, property string) (bool, error) {
	switch v := strings.ToLower(t.Table.Properties()[property]); v {
	case "", "copy-on-write":
		return true, nil
	case "merge-on-read":
		return t.Table.FormatVersion() < 2, nil
	default:
		return false, sqlerr.New(sqlerr.InvalidParameterValue, "table property %s is %q", property, v).
			WithHint("It may be copy-on-write or merge-on-read.")
	}
}

func constInt(a plan.RowAction) plan.Expr {
	return &plan.Const{Value: types.NewInt(int64(a)), Typ: types.T(types.Int4)}
}

func allTrue(args ...plan.Expr) plan.Expr {
	var out []plan.Expr
	for _, a := range args {
		if a != nil {
			out = append(out, a)
		}
	}
	switch len(out) {
	case 0:
		return &plan.Const{Value: types.NewBool(true), Typ: types.T(types.Bool)}
	case 1:
		return out[0]
	}
	return &plan.And{Args: out}
}
