package syscat

import (
	"context"
	"strconv"

	"github.com/lhsql/lhsql/types"
)

func init() {
	for name, f := range map[string]rowsFunc{
		"schemata":                        infoSchemata,
		"tables":                          infoTables,
		"views":                           infoViews,
		"columns":                         infoColumns,
		"table_constraints":               infoTableConstraints,
		"key_column_usage":                infoKeyColumns,
		"constraint_column_usage":         infoConstraintColumns,
		"referential_constraints":         infoReferential,
		"character_sets":                  infoCharacterSets,
		"information_schema_catalog_name": infoCatalogName,
		"table_privileges":                infoTablePrivileges,
		"role_table_grants":               infoTablePrivileges,
		"enabled_roles":                   infoRoles,
	} {
		makers["information_schema."+name] = f
	}
}

func infoCatalogName(ctx context.Context, q *query) error {
	return q.row("catalog_name", q.host.Database())
}

func infoSchemata(ctx context.Context, q *query) error {
	list, err := schemas(ctx, q.host)
	if err != nil {
		return err
	}
	l, err := q.lock(ctx)
	if err != nil {
		return err
	}
	for _, s := range list {
		if !l.seesSchema(s) {
			continue
		}
		owner := q.host.User()
		if l != nil {
			owner = q.roleName(l, l.State.Find(l.schema(s), "").Owner)
		}
		if err := q.row("catalog_name", q.host.Database(), "schema_name", s, "schema_owner", owner); err != nil {
			return err
		}
	}
	return nil
}

// eachNamed enumerates the relations whose schema and table names the query may want, and with which
// the role may do something.
func (q *query) eachNamed(ctx context.Context, f func(item) error) error {
	l, err := q.lock(ctx)
	if err != nil {
		return err
	}
	return q.each(ctx, "", "table_schema", "table_name", func(it item) error {
		if !l.sees(it) {
			return nil
		}
		return f(it)
	})
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

func infoTables(ctx context.Context, q *query) error {
	return q.eachNamed(ctx, func(it item) error {
		kind := "BASE TABLE"
		switch {
		case isTemporary(it.schema):
			kind = "LOCAL TEMPORARY"
		case it.entry.View:
			kind = "VIEW"
		}
		return q.row("table_catalog", q.host.Database(), "table_schema", it.schema, "table_name", it.entry.Name, "table_type", kind,
			"is_insertable_into", yesNo(!it.entry.View && it.def == nil), "is_typed", "NO")
	})
}

func infoViews(ctx context.Context, q *query) error {
	return q.eachNamed(ctx, func(it item) error {
		if !it.entry.View {
			return nil
		}
		def := any(nil)
		if it.def == nil && q.needs("view_definition") {
			r, err := q.load(ctx, it)
			if err != nil {
				return err
			}
			if r != nil {
				def = opt(r.SQL)
			}
		}
		return q.row("table_catalog", q.host.Database(), "table_schema", it.schema, "table_name", it.entry.Name, "view_definition", def,
			"check_option", "NONE", "is_updatable", "NO", "is_insertable_into", "NO", "is_trigger_updatable", "NO",
			"is_trigger_deletable", "NO", "is_trigger_insertable_into", "NO")
	})
}

func infoColumns(ctx context.Context, q *query) error {
	db := q.host.Database()
	l, err := q.lock(ctx)
	if err != nil {
		return err
	}
	return q.eachNamed(ctx, func(it item) error {
		r, err := q.load(ctx, it)
		if err != nil || r == nil {
			return err
		}
		for i, c := range r.Columns {
			if !l.seesColumn(it, c.Name) {
				continue
			}
			p := precisionOf(c.Type)
			var generation, first, step any
			if c.Identity != "" {
				generation, first, step = map[bool]string{true: "ALWAYS", false: "BY DEFAULT"}[c.Identity == "always"], itoa(1), strconv.FormatInt(c.IdentityStep, 10)
			}
			err := q.row("table_catalog", db, "table_schema", it.schema, "table_name", it.entry.Name, "column_name", c.Name,
				"ordinal_position", i+1, "column_default", opt(c.Default), "is_nullable", yesNo(!c.NotNull), "data_type", dataType(c.Type),
				"character_maximum_length", p.length, "character_octet_length", p.octets, "numeric_precision", p.precision,
				"numeric_precision_radix", p.radix, "numeric_scale", p.scale, "datetime_precision", p.datetime,
				"udt_catalog", db, "udt_schema", "pg_catalog", "udt_name", c.Type.PGName(), "dtd_identifier", itoa(i+1),
				"is_self_referencing", "NO", "is_identity", yesNo(c.Identity != ""), "identity_generation", generation, "identity_start", first, "identity_increment", step, "identity_cycle", "NO",
				"is_generated", map[bool]string{true: "ALWAYS", false: "NEVER"}[c.Generated != ""], "generation_expression", opt(c.Generated),
				"is_updatable", yesNo(it.def == nil && !it.entry.View))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func itoa(i int) string { return types.Format(types.NewInt(int64(i)), types.T(types.Int4), nil) }

// dataType is information_schema.columns.data_type.
func dataType(t types.Type) string {
	switch t.Kind {
	case types.Array:
		return "ARRAY"
	case types.Struct, types.Map:
		return "jsonb"
	case types.TimestampNS:
		return "timestamp without time zone"
	case types.TimestampTZNS:
		return "timestamp with time zone"
	case types.Variant:
		return "jsonb"
	}
	t.Declared, t.Prec = false, 0
	return t.String()
}

// precision holds what information_schema says of a type's parameters; nil: NULL.
type precision struct{ length, octets, precision, radix, scale, datetime any }

func precisionOf(t types.Type) precision {
	switch t.Kind {
	case types.Int2:
		return precision{precision: 16, radix: 2, scale: 0}
	case types.Int4:
		return precision{precision: 32, radix: 2, scale: 0}
	case types.Int8:
		return precision{precision: 64, radix: 2, scale: 0}
	case types.Float4:
		return precision{precision: 24, radix: 2}
	case types.Float8:
		return precision{precision: 53, radix: 2}
	case types.Numeric:
		if t.Fixed && t.Declared {
			return precision{precision: int(t.Prec), radix: 10, scale: int(t.Scale)}
		}
		return precision{radix: 10}
	case types.Date:
		return precision{datetime: 0}
	case types.Time, types.TimeTZ, types.Timestamp, types.TimestampTZ, types.TimestampNS, types.TimestampTZNS, types.Interval:
		if p, ok := t.SecondDigits(); ok {
			return precision{datetime: p}
		}
		return precision{datetime: 6}
	case types.Varchar, types.Bpchar:
		if t.Prec > 0 {
			return precision{length: int(t.Prec), octets: int(t.Prec) * 4}
		}
		return precision{octets: 1 << 30}
	case types.Text:
		return precision{octets: 1 << 30}
	}
	return precision{}
}

func infoTableConstraints(ctx context.Context, q *query) error {
	db := q.host.Database()
	err := q.eachCheck(ctx, "", "table_schema", "table_name", func(it item, c Check) error {
		return q.row("constraint_catalog", db, "constraint_schema", it.schema, "constraint_name", c.Name, "table_catalog", db,
			"table_schema", it.schema, "table_name", it.entry.Name, "constraint_type", "CHECK", "is_deferrable", "NO",
			"initially_deferred", "NO", "enforced", yesNo(!c.NotEnforced))
	})
	if err != nil {
		return err
	}
	if err := q.infoForeignConstraints(ctx); err != nil {
		return err
	}
	return q.eachPgKey(ctx, "", "table_schema", "table_name", nil, func(it item, r *Relation, k Key) error {
		return q.row("constraint_catalog", db, "constraint_schema", it.schema, "constraint_name", k.Name, "table_catalog", db,
			"table_schema", it.schema, "table_name", it.entry.Name, "constraint_type", k.what(), "is_deferrable", yesNo(k.Deferrable),
			"initially_deferred", yesNo(k.Deferred), "enforced", yesNo(!k.NotEnforced), "nulls_distinct", k.distinct())
	})
}

// distinct is table_constraints.nulls_distinct.
func (k Key) distinct() any {
	if k.Primary {
		return nil
	}
	return yesNo(!k.NullsNotDistinct)
}

func infoKeyColumns(ctx context.Context, q *query) error {
	if err := q.infoForeignColumns(ctx); err != nil {
		return err
	}
	db := q.host.Database()
	return q.eachPgKey(ctx, "", "table_schema", "table_name", nil, func(it item, r *Relation, k Key) error {
		for i, c := range k.Columns {
			if err := q.row("constraint_catalog", db, "constraint_schema", it.schema, "constraint_name", k.Name, "table_catalog", db,
				"table_schema", it.schema, "table_name", it.entry.Name, "column_name", r.Columns[c].Name, "ordinal_position", i+1); err != nil {
				return err
			}
		}
		return nil
	})
}

func infoConstraintColumns(ctx context.Context, q *query) error {
	if err := q.infoReferencedColumns(ctx); err != nil {
		return err
	}
	db := q.host.Database()
	return q.eachPgKey(ctx, "", "table_schema", "table_name", nil, func(it item, r *Relation, k Key) error {
		for _, c := range k.Columns {
			if err := q.row("table_catalog", db, "table_schema", it.schema, "table_name", it.entry.Name, "column_name", r.Columns[c].Name,
				"constraint_catalog", db, "constraint_schema", it.schema, "constraint_name", k.Name); err != nil {
				return err
			}
		}
		return nil
	})
}

func infoCharacterSets(ctx context.Context, q *query) error {
	db := q.host.Database()
	return q.row("character_set_name", "UTF8", "character_repertoire", "UCS", "form_of_use", "UTF8", "default_collate_catalog", db,
		"default_collate_schema", "pg_catalog", "default_collate_name", "C")
}
