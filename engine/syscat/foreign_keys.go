package syscat

// This file shows FOREIGN KEY constraints.

import (
	"context"
	"slices"
	"strings"
)

// Foreign is a FOREIGN KEY constraint. Columns are indexes of the relation's.
type Foreign struct {
	Name               string
	Columns            []int
	Schema, Table      string   // that it references
	References         []string // columns of it
	Unique             string   // its key over them
	OnDelete, OnUpdate string   // "restrict", "cascade", "set null"; "": NO ACTION
	MatchFull          bool
	NotEnforced        bool
	NotValid           bool
	Deferrable         bool
	Deferred           bool
}

// rule is a referential action as catalogs spell it.
func rule(action string) string {
	if action == "" {
		return "NO ACTION"
	}
	return strings.ToUpper(action)
}

// ruleLetter is pg_constraint's letter of an action.
func ruleLetter(action string) string {
	return map[string]string{"": "a", "restrict": "r", "cascade": "c", "set null": "n"}[action]
}

// Definition is pg_get_constraintdef of f.
func (f Foreign) Definition(r *Relation) string {
	names := make([]string, len(f.Columns))
	for i, c := range f.Columns {
		names[i] = Quote(r.Columns[c].Name)
	}
	refs := make([]string, len(f.References))
	for i, n := range f.References {
		refs[i] = Quote(n)
	}
	text := "FOREIGN KEY (" + strings.Join(names, ", ") + ") REFERENCES " + Quote(f.Schema) + "." + Quote(f.Table) + "(" + strings.Join(refs, ", ") + ")"
	if f.MatchFull {
		text += " MATCH FULL"
	}
	if f.OnUpdate != "" {
		text += " ON UPDATE " + rule(f.OnUpdate)
	}
	if f.OnDelete != "" {
		text += " ON DELETE " + rule(f.OnDelete)
	}
	if f.Deferrable {
		text += " DEFERRABLE"
	}
	if f.Deferred {
		text += " INITIALLY DEFERRED"
	}
	switch {
	case f.NotEnforced:
		text += " NOT ENFORCED"
	case f.NotValid:
		text += " NOT VALID"
	}
	return text
}

// MySQLDefinition is the constraint in SHOW CREATE TABLE; quote quotes names.
func (f Foreign) MySQLDefinition(r *Relation, quote func(string) string) string {
	names := make([]string, len(f.Columns))
	for i, c := range f.Columns {
		names[i] = quote(r.Columns[c].Name)
	}
	refs := make([]string, len(f.References))
	for i, n := range f.References {
		refs[i] = quote(n)
	}
	text := "CONSTRAINT " + quote(f.Name) + " FOREIGN KEY (" + strings.Join(names, ", ") + ") REFERENCES "
	if f.Schema != "" {
		text += quote(f.Schema) + "."
	}
	text += quote(f.Table) + " (" + strings.Join(refs, ", ") + ")"
	if f.OnDelete != "" {
		text += " ON DELETE " + rule(f.OnDelete)
	}
	if f.OnUpdate != "" {
		text += " ON UPDATE " + rule(f.OnUpdate)
	}
	if f.NotEnforced {
		text += " NOT ENFORCED"
	}
	return text
}

func foreignOf(r *Relation) []Foreign { return r.Foreign }

// eachForeign calls f with the foreign keys of tables.
func (q *query) eachForeign(ctx context.Context, relCol, schemaCol, nameCol string, f func(it item, r *Relation, k Foreign) error) error {
	return eachOf(ctx, q, relCol, schemaCol, nameCol, nil, foreignOf, f)
}

// eachMyForeign is eachForeign over MySQL's databases.
func (q *query) eachMyForeign(ctx context.Context, dbCol, nameCol string, f func(it myItem, r *Relation, k Foreign) error) error {
	return eachMyOf(ctx, q, dbCol, nameCol, foreignOf, f)
}

// foreignConstraints are the rows of pg_constraint that are foreign keys.
func (q *query) foreignConstraints(ctx context.Context) error {
	if !q.may("contype", "f") || !q.may("contypid", 0) {
		return nil
	}
	db := q.host.Database()
	return q.eachForeign(ctx, "conrelid", "", "", func(it item, r *Relation, k Foreign) error {
		oid := hashOID("foreign", db, it.schema, it.entry.Name, k.Name)
		q.host.KeepDefinition(oid, k.Definition(r))
		cols := make([]int, len(k.Columns))
		for i, c := range k.Columns {
			cols[i] = c + 1
		}
		var index uint32
		confkey := make([]int, len(k.References))
		if p, err := q.host.Relation(ctx, k.Schema, k.Table); err == nil && p != nil {
			for i, n := range k.References {
				confkey[i] = slices.IndexFunc(p.Columns, func(c Column) bool { return c.Name == n }) + 1
			}
			for _, u := range p.Keys {
				if u.Name == k.Unique {
					index = u.indexOID(db, item{schema: k.Schema, entry: p.Entry, key: hashOID("key", db, k.Schema, k.Table)})
				}
			}
		}
		match := "s"
		if k.MatchFull {
			match = "f"
		}
		return q.row("oid", oid, "conname", k.Name, "connamespace", SchemaOID(db, it.schema), "contype", "f",
			"condeferrable", k.Deferrable, "condeferred", k.Deferred, "convalidated", !k.NotValid && !k.NotEnforced, "conrelid", it.oid,
			"contypid", 0, "conindid", index, "conparentid", 0, "confrelid", OID(db, k.Schema, k.Table), "confupdtype", ruleLetter(k.OnUpdate),
			"confdeltype", ruleLetter(k.OnDelete), "confmatchtype", match, "conislocal", true, "coninhcount", 0, "connoinherit", true,
			"conkey", cols, "confkey", confkey)
	})
}

func infoReferential(ctx context.Context, q *query) error {
	db := q.host.Database()
	return q.eachForeign(ctx, "", "", "", func(it item, _ *Relation, k Foreign) error {
		match := "NONE"
		if k.MatchFull {
			match = "FULL"
		}
		return q.row("constraint_catalog", db, "constraint_schema", it.schema, "constraint_name", k.Name, "unique_constraint_catalog", db,
			"unique_constraint_schema", k.Schema, "unique_constraint_name", k.Unique, "match_option", match,
			"update_rule", rule(k.OnUpdate), "delete_rule", rule(k.OnDelete))
	})
}

func (q *query) infoForeignConstraints(ctx context.Context) error {
	db := q.host.Database()
	return q.eachForeign(ctx, "", "table_schema", "table_name", func(it item, _ *Relation, k Foreign) error {
		return q.row("constraint_catalog", db, "constraint_schema", it.schema, "constraint_name", k.Name, "table_catalog", db,
			"table_schema", it.schema, "table_name", it.entry.Name, "constraint_type", "FOREIGN KEY", "is_deferrable", yesNo(k.Deferrable),
			"initially_deferred", yesNo(k.Deferred), "enforced", yesNo(!k.NotEnforced))
	})
}

func (q *query) infoForeignColumns(ctx context.Context) error {
	db := q.host.Database()
	return q.eachForeign(ctx, "", "table_schema", "table_name", func(it item, r *Relation, k Foreign) error {
		for i, c := range k.Columns {
			if err := q.row("constraint_catalog", db, "constraint_schema", it.schema, "constraint_name", k.Name, "table_catalog", db,
				"table_schema", it.schema, "table_name", it.entry.Name, "column_name", r.Columns[c].Name, "ordinal_position", i+1,
				"position_in_unique_constraint", i+1); err != nil {
				return err
			}
		}
		return nil
	})
}

func (q *query) infoReferencedColumns(ctx context.Context) error {
	db := q.host.Database()
	return q.eachForeign(ctx, "", "", "", func(it item, _ *Relation, k Foreign) error {
		for _, n := range k.References {
			if err := q.row("table_catalog", db, "table_schema", k.Schema, "table_name", k.Table, "column_name", n,
				"constraint_catalog", db, "constraint_schema", it.schema, "constraint_name", k.Name); err != nil {
				return err
			}
		}
		return nil
	})
}

func (q *query) myForeignConstraints(ctx context.Context) error {
	return q.eachMyForeign(ctx, "TABLE_SCHEMA", "TABLE_NAME", func(it myItem, _ *Relation, k Foreign) error {
		return q.row("CONSTRAINT_CATALOG", "def", "CONSTRAINT_SCHEMA", it.db.Name, "CONSTRAINT_NAME", k.Name,
			"TABLE_SCHEMA", it.db.Name, "TABLE_NAME", it.entry.Name, "CONSTRAINT_TYPE", "FOREIGN KEY", "ENFORCED", yesNo(!k.NotEnforced))
	})
}

func (q *query) myForeignColumns(ctx context.Context) error {
	return q.eachMyForeign(ctx, "TABLE_SCHEMA", "TABLE_NAME", func(it myItem, r *Relation, k Foreign) error {
		for i, c := range k.Columns {
			if err := q.row("CONSTRAINT_CATALOG", "def", "CONSTRAINT_SCHEMA", it.db.Name, "CONSTRAINT_NAME", k.Name,
				"TABLE_CATALOG", "def", "TABLE_SCHEMA", it.db.Name, "TABLE_NAME", it.entry.Name, "COLUMN_NAME", r.Columns[c].Name,
				"ORDINAL_POSITION", i+1, "POSITION_IN_UNIQUE_CONSTRAINT", i+1, "REFERENCED_TABLE_SCHEMA", k.Schema,
				"REFERENCED_TABLE_NAME", k.Table, "REFERENCED_COLUMN_NAME", k.References[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func myReferential(ctx context.Context, q *query) error {
	return q.eachMyForeign(ctx, "CONSTRAINT_SCHEMA", "TABLE_NAME", func(it myItem, _ *Relation, k Foreign) error {
		unique := k.Unique
		if strings.HasSuffix(unique, keySuffix) {
			unique = "PRIMARY"
		}
		return q.row("CONSTRAINT_CATALOG", "def", "CONSTRAINT_SCHEMA", it.db.Name, "CONSTRAINT_NAME", k.Name, "UNIQUE_CONSTRAINT_CATALOG", "def",
			"UNIQUE_CONSTRAINT_SCHEMA", k.Schema, "UNIQUE_CONSTRAINT_NAME", unique, "MATCH_OPTION", "NONE", "UPDATE_RULE", rule(k.OnUpdate),
			"DELETE_RULE", rule(k.OnDelete), "TABLE_NAME", it.entry.Name, "REFERENCED_TABLE_NAME", k.Table)
	})
}
