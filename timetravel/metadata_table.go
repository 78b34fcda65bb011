package timetravel

import (
	"context"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

// VirtualTable is a table whose rows are computed; plan.VirtualTable says more.
type VirtualTable interface {
	Name() string
	Fields() []types.Field
	Rows(ctx context.Context, equal map[int]types.Datum, yield func([]types.Datum) error) error
}

type emit = func([]types.Datum) error

// metadataTable is a kind of metadata table. The columns are named as Spark names them.
type metadataTable struct {
	// fields and rows of the table, read at a snapshot (nil: none).
	fields func(t *lake.Table) []types.Field
	rows   func(ctx context.Context, t *lake.Table, s *lake.Snapshot, yield emit) error
	// inFiles are its rows instead, where they are read from data files.
	inFiles func(ctx context.Context, files DataFiles, t *lake.Table, s *lake.Snapshot, yield emit) error
	// timeless tables are about all of the table's life: AS OF has no meaning for them.
	timeless bool
}

var metadataTables = map[string]metadataTable{
	"snapshots":            {fields: fixed(snapshotFields), rows: snapshotRows, timeless: true},
	"history":              {fields: fixed(historyFields), rows: historyRows, timeless: true},
	"refs":                 {fields: fixed(refFields), rows: refRows, timeless: true},
	"metadata_log_entries": {fields: fixed(metadataLogFields), rows: metadataLogRows, timeless: true},
	"properties":           {fields: fixed(propertyFields), rows: propertyRows, timeless: true},
	"manifests":            {fields: fixed(manifestFields), rows: manifestRows},
	"all_manifests":        {fields: fixed(allManifestFields), rows: allManifestRows, timeless: true},
	"files":                {fields: fileFields, rows: fileRows(anyFile, false)},
	"data_files":           {fields: fileFields, rows: fileRows(dataFile, false)},
	"delete_files":         {fields: fileFields, rows: fileRows(deleteFile, false)},
	"all_files":            {fields: fileFields, rows: fileRows(anyFile, true), timeless: true},
	"all_data_files":       {fields: fileFields, rows: fileRows(dataFile, true), timeless: true},
	"all_delete_files":     {fields: fileFields, rows: fileRows(deleteFile, true), timeless: true},
	"entries":              {fields: entryFields, rows: entryRows(false)},
	"all_entries":          {fields: entryFields, rows: entryRows(true), timeless: true},
	"partitions":           {fields: partitionFields, rows: partitionRows},
	"position_deletes":     {fields: positionDeleteFields, inFiles: positionDeleteRows},
}

// MetadataTable tells whether name is a metadata table's, and gives its usual spelling.
func MetadataTable(name string) (string, bool) {
	name = strings.ToLower(name)
	_, ok := metadataTables[name]
	return name, ok
}

// OpenMetadataTable opens one of t's metadata tables at snapshot s. travels tells that the
// statement asked for another state than the present.
func OpenMetadataTable(t *lake.Table, name string, s *lake.Snapshot, travels bool, files DataFiles) (VirtualTable, error) {
	name, ok := MetadataTable(name)
	if !ok {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "table %s has no metadata table %q", t.Name.Table, name)
	}
	m := metadataTables[name]
	if travels && m.timeless {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "the metadata table %s cannot be read AS OF: it is about all of the table's life", name)
	}
	return &metadataView{kind: m, name: name, table: t, snapshot: s, columns: m.fields(t), files: files}, nil
}

type metadataView struct {
	kind     metadataTable
	name     string
	table    *lake.Table
	snapshot *lake.Snapshot
	columns  []types.Field
	files    DataFiles
}

func (v *metadataView) Name() string          { return v.table.Name.Table + "$" + v.name }
func (v *metadataView) Fields() []types.Field { return v.columns }
func (v *metadataView) Rows(ctx context.Context, _ map[int]types.Datum, yield func([]types.Datum) error) error {
	if v.kind.inFiles != nil {
		return v.kind.inFiles(ctx, v.files, v.table, v.snapshot, yield)
	}
	return v.kind.rows(ctx, v.table, v.snapshot, yield)
}

func fixed(f []types.Field) func(*lake.Table) []types.Field {
	return func(*lake.Table) []types.Field { return f }
}

// The types and values that the tables share.

var (
	tBool   = types.T(types.Bool)
	tInt    = types.T(types.Int4)
	tBig    = types.T(types.Int8)
	tText   = types.T(types.Text)
	tBytes  = types.T(types.Bytea)
	tTime   = types.T(types.TimestampTZ)
	tCounts = types.MapOf(tInt, tBig)
	tBounds = types.MapOf(tInt, tBytes)
)

func field(name string, t types.Type) types.Field { return types.Field{Name: name, Type: t} }

func optional(p *int64) types.Datum {
	if p == nil {
		return types.Null
	}
	return types.NewInt(*p)
}

func text(s string) types.Datum {
	if s == "" {
		return types.Null
	}
	return types.NewStr(s)
}
