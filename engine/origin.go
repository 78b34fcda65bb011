package engine

import "github.com/lhsql/lhsql/plan"

// Origin is the stored column that a result's column shows; the zero Origin: it is computed.
type Origin struct {
	Database, Table, Column string
	Key                     bool // an identifier field
	NotNull                 bool // the column is, and nothing in the statement makes NULLs of it
}

// Origins tells where the statement's columns come from, one for each.
func (st *Stmt) Origins() []Origin {
	out := make([]Origin, len(st.columns))
	if st.bound == nil {
		return out
	}
	adds := addsNulls(st.bound.Plan)
	for i, c := range st.columns {
		if c.TableOID == 0 {
			continue
		}
		for _, u := range st.bound.Tables {
			rel := u.Relation
			n := int(c.Attnum)
			for j, a := range rel.Attnums {
				if a == c.Attnum {
					n = j + 1
				}
			}
			if rel.OID != c.TableOID || rel.TableSchema == nil || n < 1 || n > len(rel.TableSchema.Fields) {
				continue
			}
			f := &rel.TableSchema.Fields[n-1]
			out[i] = Origin{Database: st.session.engine.databaseName(rel.Catalog, rel.Schema), Table: rel.Name, Column: f.Name, NotNull: f.Required && !adds}
			for _, id := range rel.TableSchema.Identifier {
				out[i].Key = out[i].Key || id == f.ID
			}
			break
		}
	}
	return out
}

// addsNulls tells whether something in n may give NULL for a column that has none: a join that keeps
// rows without a partner, or a grouping that leaves the column out.
func addsNulls(n plan.Node) bool {
	if n == nil {
		return false
	}
	switch n := n.(type) {
	case *plan.Join:
		switch n.Kind {
		case plan.InnerJoin, plan.SemiJoin, plan.AntiJoin:
		default:
			return true
		}
	case *plan.Aggregate:
		if n.Sets != nil {
			return true
		}
	}
	for _, in := range n.Inputs() {
		if addsNulls(in) {
			return true
		}
	}
	return false
}
