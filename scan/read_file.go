package scan

import (
	"context"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/scan/parquet"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

var (
	typText = types.T(types.Text)
	typInt8 = types.T(types.Int8)
)

// ReadFile reads fields of a Parquet file of t that is no data file, such as one of partition statistics.
// A field that the file lacks comes as nil.
func ReadFile(ctx context.Context, t *lake.Table, path string, size int64, fields []lake.Field, env Env, yield func(cols []*vec.Vector, rows int) error) (err error) {
	s, err := Open(ctx, &plan.Scan{Table: t, Schema: t.Schema(), Pruned: true}, env)
	if err != nil {
		return err
	}
	defer func() { err = atFile(err, path) }()
	defer guard(path, &err)
	return s.readRows(ctx, &lake.DataFile{Path: path, FileSize: size, RecordCount: -1, Format: "parquet"}, fields, true, yield)
}

// readDeleteRows reads fields of a delete file, batch by batch. Unlike a data file's, none of
// them may be missing: then it would not be known what is deleted.
func (s *Scanner) readDeleteRows(ctx context.Context, df *lake.DataFile, fields []lake.Field, yield func(cols []*vec.Vector, rows int) error) error {
	return s.readRows(ctx, df, fields, false, yield)
}

func (s *Scanner) readRows(ctx context.Context, df *lake.DataFile, fields []lake.Field, lax bool, yield func(cols []*vec.Vector, rows int) error) error {
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
	cols, at, err := s.fileColumns(r, ft, fields, lax)
	if err != nil {
		return err
	}
	out := make([]*vec.Vector, len(fields))
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
				if out[at[i]], err = c.Vector(false); err != nil {
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

// fileColumns are the columns of fields, and which field each is of. lax: some may be missing.
func (s *Scanner) fileColumns(r *parquet.Reader, ft *parquet.Footer, fields []lake.Field, lax bool) (cols []parquet.Column, at []int, err error) {
	var mapping []lake.MappedField
	if ft.Root.HasIDs() {
		mapping = nil
	} else if mapping = s.node.Table.NameMapping(); len(fields) > 0 && fields[0].ID == deletePathID {
		mapping = []lake.MappedField{{ID: deletePathID, Names: []string{"file_path"}}, {ID: deletePosID, Names: []string{"pos"}}}
	}
	res, err := newResolver(ft, mapping)
	if err != nil {
		return nil, nil, err
	}
	for i := range fields {
		spec, err := res.spec(&fields[i], ft.Root)
		if err != nil {
			return nil, nil, err
		}
		if spec == nil || spec.Kind == parquet.Constant {
			if lax {
				continue
			}
			return nil, nil, sqlerr.New(sqlerr.DataCorrupted, "a delete file lacks its field %q", fields[i].Name)
		}
		c, err := parquet.NewColumn(r, spec)
		if err != nil {
			return nil, nil, err
		}
		cols, at = append(cols, c), append(at, i)
	}
	return cols, at, nil
}
