package scan

import (
	"context"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/scan/parquet"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

var (
	typText = types.T(types.Text)
	typInt8 = types.T(types.Int8)
)

// deleteColumn is one column of a delete file's batch.
type deleteColumn struct {
	v *vec.Vector
}

// readDeleteRows reads fields of a delete file, batch by batch. Unlike a data file's, none of
// them may be missing: then it would not be known what is deleted.
func (s *Scanner) readDeleteRows(ctx context.Context, df *lake.DataFile, fields []lake.Field, yield func([]deleteColumn, int) error) error {
	if err := checkReadable(df); err != nil {
		return err
	}
	file, ft, err := s.openParquet(ctx, df)
	if err != nil {
		return err
	}
	defer file.Close()
	r := parquet.NewReader(s.env.Mem, &s.io)
	defer r.Close()
	cols, err := s.deleteColumns(r, ft, fields)
	if err != nil {
		return err
	}
	out := make([]deleteColumn, len(cols))
	for g := range ft.Groups {
		group := &ft.Groups[g]
		if group.Rows == 0 {
			continue
		}
		for _, c := range cols {
			if err := c.Open(file, group, nil); err != nil {
				return err
			}
		}
		r.Reclaim()
		if err := r.Fetch(ctx, file, cols, nil); err != nil {
			return err
		}
		for left := group.Rows; left > 0; {
			n := int(min(left, vec.BatchRows))
			for i, c := range cols {
				if err := c.Read(ctx, n); err != nil {
					return err
				}
				if out[i].v, err = c.Vector(false); err != nil {
					return err
				}
			}
			if err := yield(out, n); err != nil {
				return err
			}
			left -= int64(n)
		}
	}
	return nil
}

func (s *Scanner) deleteColumns(r *parquet.Reader, ft *parquet.Footer, fields []lake.Field) ([]parquet.Column, error) {
	var mapping []lake.MappedField
	if ft.Root.HasIDs() {
		mapping = nil
	} else if mapping = s.node.Table.NameMapping(); len(fields) > 0 && fields[0].ID == deletePathID {
		mapping = []lake.MappedField{{ID: deletePathID, Names: []string{"file_path"}}, {ID: deletePosID, Names: []string{"pos"}}}
	}
	res, err := newResolver(ft, mapping)
	if err != nil {
		return nil, err
	}
	var cols []parquet.Column
	for i := range fields {
		spec, err := res.spec(&fields[i], ft.Root)
		if err != nil {
			return nil, err
		}
		if spec == nil || spec.Kind == parquet.Constant {
			return nil, sqlerr.New(sqlerr.DataCorrupted, "a delete file lacks its field %q", fields[i].Name)
		}
		c, err := parquet.NewColumn(r, spec)
		if err != nil {
			return nil, err
		}
		cols = append(cols, c)
	}
	return cols, nil
}
