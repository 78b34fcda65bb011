package dml

import (
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/dml/parquet"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// fileOptions are the table's wishes for its files (Iceberg documentation, "Write properties").
type fileOptions struct {
	parquet.Options
	target int64 // bytes of a file
}

// defaultTarget is Iceberg's default for write.target-file-size-bytes.
const defaultTarget = 512 << 20

// maxInferredMetrics is how many columns get metrics by default
// (write.metadata.metrics.max-inferred-column-defaults).
const maxInferredMetrics = 100

func readOptions(t *lake.Table, s *lake.Schema) (fileOptions, error) {
	p := t.Properties()
	o := fileOptions{target: defaultTarget}
	bad := func(k string) error {
		return sqlerr.New(sqlerr.InvalidParameterValue, "table property %s has the value %q", k, p[k]).
			WithHint("ALTER TABLE … SET TBLPROPERTIES changes it.")
	}
	if f := strings.ToLower(p["write.format.default"]); f != "" && f != "parquet" {
		return o, sqlerr.New(sqlerr.FeatureNotSupported, "table %s wants %s files, and only Parquet is written", t.Name.Table, f)
	}
	num := func(k string, set func(int64)) error {
		v, ok := p[k]
		if !ok {
			return nil
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n <= 0 {
			return bad(k)
		}
		set(n)
		return nil
	}
	for k, set := range map[string]func(int64){
		"write.target-file-size-bytes":       func(n int64) { o.target = n },
		"write.parquet.row-group-size-bytes": func(n int64) { o.RowGroupBytes = n },
		"write.parquet.page-size-bytes":      func(n int64) { o.PageBytes = int(n) },
		"write.parquet.page-row-limit":       func(n int64) { o.PageRows = int(n) },
		"write.parquet.dict-size-bytes":      func(n int64) { o.DictBytes = int(n) },
	} {
		if err := num(k, set); err != nil {
			return o, err
		}
	}
	var err error
	if o.Codec, err = parquet.ParseCodec(strings.ToLower(p["write.parquet.compression-codec"])); err != nil {
		return o, bad("write.parquet.compression-codec")
	}
	if v := p["write.parquet.compression-level"]; v != "" && v != "null" {
		if o.Level, err = strconv.Atoi(v); err != nil {
			return o, bad("write.parquet.compression-level")
		}
	}
	if err := o.blooms(p, s); err != nil {
		return o, err
	}
	return o, o.metrics(p, s)
}

// fieldByPath finds a field by the dotted path of its names.
func fieldByPath(fields []lake.Field, path string) *lake.Field {
	for i := range fields {
		f := &fields[i]
		if f.Name == path {
			return f
		}
		if rest, ok := strings.CutPrefix(path, f.Name+"."); ok {
			if g := fieldByPath(f.Children, rest); g != nil {
				return g
			}
		}
	}
	return nil
}

func (o *fileOptions) blooms(p map[string]string, s *lake.Schema) error {
	for k, v := range p {
		name, ok := strings.CutPrefix(k, "write.parquet.bloom-filter-enabled.column.")
		if !ok || !strings.EqualFold(v, "true") {
			continue
		}
		f := fieldByPath(s.Fields, name)
		if f == nil || f.Iceberg == "variant" {
			continue // the column went, the property stayed; a variant has no equality
		}
		rate := 0.01
		if r := p["write.parquet.bloom-filter-fpp.column."+name]; r != "" {
			var err error
			if rate, err = strconv.ParseFloat(r, 64); err != nil || rate <= 0 || rate >= 1 {
				return sqlerr.New(sqlerr.InvalidParameterValue, "table property write.parquet.bloom-filter-fpp.column.%s has the value %q", name, r)
			}
		}
		if o.Bloom == nil {
			o.Bloom = map[int]float64{}
		}
		o.Bloom[f.ID] = rate
	}
	return nil
}

// MetricsOf gives the metrics mode of each column, by field id, as the table's properties say.
func MetricsOf(t *lake.Table, s *lake.Schema) (func(id int) parquet.Metrics, error) {
	var o fileOptions
	err := o.metrics(t.Properties(), s)
	return o.Metrics, err
}

func (o *fileOptions) metrics(p map[string]string, s *lake.Schema) error {
	def := parquet.DefaultMetrics
	chosen := map[int]parquet.Metrics{}
	explicit := p["write.metadata.metrics.default"] != ""
	if explicit {
		m, err := parquet.ParseMetrics(p["write.metadata.metrics.default"])
		if err != nil {
			return sqlerr.New(sqlerr.InvalidParameterValue, "table property write.metadata.metrics.default: %v", err)
		}
		def = m
	}
	limit := maxInferredMetrics
	if v, err := strconv.Atoi(p["write.metadata.metrics.max-inferred-column-defaults"]); err == nil {
		limit = v
	}
	n := 0
	var visit func(fields []lake.Field)
	visit = func(fields []lake.Field) {
		for i := range fields {
			if len(fields[i].Children) > 0 {
				visit(fields[i].Children)
				continue
			}
			if n++; n > limit && !explicit {
				chosen[fields[i].ID] = parquet.Metrics{None: true}
			}
		}
	}
	visit(s.Fields)
	for k, v := range p {
		name, ok := strings.CutPrefix(k, "write.metadata.metrics.column.")
		if !ok {
			continue
		}
		m, err := parquet.ParseMetrics(v)
		if err != nil {
			return sqlerr.New(sqlerr.InvalidParameterValue, "table property %s: %v", k, err)
		}
		if f := fieldByPath(s.Fields, name); f != nil {
			chosen[f.ID] = m
		}
	}
	o.Metrics = func(id int) parquet.Metrics {
		if m, ok := chosen[id]; ok {
			return m
		}
		return def
	}
	return nil
}
