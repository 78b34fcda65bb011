package lake

import (
	"slices"
	"strings"

	"github.com/lhsql/lhsql/lake/store"
)

// visibleIn tells whether a table is as the edit was to make it, in all that the edit touched. It
// tells of a commit that added no snapshot and made no table, so that nothing bears its name: that
// another writer may have done the very same does not matter then, since the table is as it was to
// be, and to do it once more would be wrong for both.
func (e *Edit) visibleIn(t *Table) bool {
	is, now := e.Table(), &t.state
	for _, u := range e.updates {
		if !e.visible(u, is, now, t) {
			return false
		}
	}
	return len(e.updates) > 0
}

func (e *Edit) visible(u obj, is *Table, now *state, t *Table) bool {
	switch u["action"] {
	case "set-properties":
		set, _ := u["updates"].(map[string]string)
		for k := range set {
			if v, ok := now.properties[k]; !ok || v != e.s.properties[k] {
				return false
			}
		}
		return true
	case "remove-properties":
		gone, _ := u["removals"].([]string)
		for _, k := range gone {
			if v, ok := now.properties[k]; ok && v != e.s.properties[k] {
				return false
			}
		}
		return true
	case "add-schema", "set-current-schema":
		a, b := is.Schema(), t.Schema()
		return a != nil && b != nil && sameJSON(schemaWithout(a), schemaWithout(b))
	case "add-spec", "set-default-spec":
		a, b := is.DefaultSpec(), t.DefaultSpec()
		return a != nil && b != nil && sameJSON(specFieldsJSON(a), specFieldsJSON(b))
	case "add-sort-order", "set-default-sort-order":
		a, b := is.DefaultSortOrder(), t.DefaultSortOrder()
		if a == nil || b == nil {
			return a == b
		}
		return sameJSON(a.json().Fields, b.json().Fields)
	case "set-snapshot-ref", "remove-snapshot-ref":
		name, _ := u["ref-name"].(string)
		a, has := is.Ref(name)
		b, had := t.Ref(name)
		return has == had && a.SnapshotID == b.SnapshotID && a.Branch == b.Branch
	case "set-location":
		return store.Canonical(now.location) == store.Canonical(e.s.location)
	case "upgrade-format-version":
		return now.formatVersion >= e.s.formatVersion
	case "assign-uuid":
		return now.uuid == e.s.uuid
	case "remove-snapshots":
		ids, _ := u["snapshot-ids"].([]int64)
		return !slices.ContainsFunc(ids, func(id int64) bool { return t.SnapshotByID(id) != nil })
	case restateUpdate:
		ids, _ := u["snapshot-ids"].([]int64)
		return !slices.ContainsFunc(ids, func(id int64) bool {
			a, b := is.SnapshotByID(id), t.SnapshotByID(id)
			return a == nil || b == nil || a.ManifestList != b.ManifestList
		})
	case "set-statistics", "remove-statistics", "set-partition-statistics", "remove-partition-statistics":
		id, ok := u["snapshot-id"].(int64)
		if item, _ := u[partitionStatistics].(obj); !ok {
			id, _ = item["snapshot-id"].(int64)
		}
		action, _ := u["action"].(string)
		named := func(of *state) string {
			list := of.statistics
			if strings.HasSuffix(action, partitionStatistics) {
				list = of.partitionStatistics
			}
			for _, f := range list {
				if f.SnapshotID == id {
					return f.Path
				}
			}
			return ""
		}
		return named(&t.state) == named(e.s)
	case "remove-schemas":
		ids, _ := u["schema-ids"].([]int)
		return !slices.ContainsFunc(ids, func(id int) bool { return t.SchemaByID(id) != nil })
	case "remove-partition-specs":
		ids, _ := u["spec-ids"].([]int)
		return !slices.ContainsFunc(ids, func(id int) bool { return t.Spec(id) != nil })
	}
	return false // what is not known cannot be recognised
}

// schemaWithout is a schema's JSON without its id, which the server gives.
func schemaWithout(s *Schema) *schemaJSON {
	c := *s
	c.ID = 0
	return c.json()
}
