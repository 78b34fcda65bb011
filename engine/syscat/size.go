package syscat

// size is what a table is guessed to hold, in a lakehouse of a thousand tables. Names cost little;
// what is in a table costs loading its metadata, unless the query names it.
type size struct {
	rows, work float64
	keys       []string // columns by which rows are found without making the others
}

var sizes = map[string]*size{
	"pg_catalog.pg_namespace":   {rows: 10, work: 10},
	"pg_catalog.pg_class":       {rows: 1000, work: 1000, keys: []string{"oid", "relname"}},
	"pg_catalog.pg_attribute":   {rows: 50_000, work: 100_000, keys: []string{"attrelid"}},
	"pg_catalog.pg_attrdef":     {rows: 1000, work: 50_000, keys: []string{"adrelid"}},
	"pg_catalog.pg_description": {rows: 1000, work: 50_000, keys: []string{"objoid"}},
	"pg_catalog.pg_index":       {rows: 1000, work: 50_000, keys: []string{"indrelid", "indexrelid"}},
	"pg_catalog.pg_constraint":  {rows: 1000, work: 50_000, keys: []string{"oid", "conrelid", "conindid", "conname"}},
	"pg_catalog.pg_depend":      {rows: 1000, work: 50_000, keys: []string{"objid", "refobjid"}},
	"pg_catalog.pg_type":        {rows: 600, work: 600, keys: []string{"oid", "typname"}},
	"pg_catalog.pg_proc":        {rows: 3000, work: 3000, keys: []string{"oid", "proname"}},
	"pg_catalog.pg_tables":      {rows: 1000, work: 1000, keys: []string{"schemaname", "tablename"}},
	"pg_catalog.pg_views":       {rows: 100, work: 1000, keys: []string{"schemaname", "viewname"}},
	"pg_catalog.pg_indexes":     {rows: 1000, work: 50_000, keys: []string{"tablename"}},

	"information_schema.tables":            {rows: 1000, work: 1000, keys: []string{"table_schema", "table_name"}},
	"information_schema.views":             {rows: 100, work: 1000, keys: []string{"table_schema", "table_name"}},
	"information_schema.columns":           {rows: 50_000, work: 100_000, keys: []string{"table_schema", "table_name"}},
	"information_schema.table_constraints": {rows: 1000, work: 50_000, keys: []string{"table_name"}},
	"information_schema.key_column_usage":  {rows: 1000, work: 50_000, keys: []string{"table_name"}},
	"information_schema.statistics":        {rows: 1000, work: 50_000, keys: []string{"TABLE_NAME"}},
}
