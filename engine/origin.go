package engine

// Origin is the stored column that a result's column shows; the zero Origin: it is computed.
type Origin struct {
	Database, Table, Column string
	Key                     bool // an identifier field
}

// Origins tells where the statement's columns come from, one for each.
func (st *Stmt) Origins() []Origin {
	out := make([]Origin, len(st.columns))
	if st.bound == nil {
		return out
	}
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
			out[i] = Origin{st.session.engine.databaseName(rel.Catalog, rel.Schema), rel.Name, f.Name, false}
			for _, id := range rel.TableSchema.Identifier {
				out[i].Key = out[i].Key || id == f.ID
			}
			break
		}
	}
	return out
}
