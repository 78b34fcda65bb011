package scan

import (
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/scan/parquet"
)

// variantSpec says how to read a variant, shredded or not.
func variantSpec(f *lake.Field, n *parquet.Node) (*parquet.Spec, error) {
	s, err := parquet.VariantSpec(n)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, shape(f, n)
	}
	s.Type = f.Type
	return s, nil
}
