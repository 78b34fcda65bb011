package scan

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"sync"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/scan/parquet"
)

// deleteCache keeps what delete files say for as long as the scan runs: several data files
// share them. Each is read once, by whoever needs it first.
type deleteCache struct {
	s      *Scanner
	mu     sync.Mutex
	budget *parquet.Budget // under mu
	files  map[string]*deleteFile
	wanted map[string]string // location → path of the data files that the scan reads
}

type deleteFile struct {
	once      sync.Once
	err       error
	positions map[string][]int64 // by data file location, sorted
	equal     *equalitySet
}

func (d *deleteCache) init(s *Scanner) {
	d.s, d.budget, d.files = s, parquet.NewBudget(s.env.Mem), map[string]*deleteFile{}
}

func (d *deleteCache) close() {
	d.mu.Lock()
	d.files = map[string]*deleteFile{}
	d.budget.Close()
	d.mu.Unlock()
}

// Reserve and Release charge the scan's budget from several goroutines.
func (d *deleteCache) Reserve(n int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.budget.Reserve(n)
}
func (d *deleteCache) Release(n int64) {
	d.mu.Lock()
	d.budget.Give(n)
	d.mu.Unlock()
}

// dataLocations are the locations of the scan's data files that have position deletes.
func (d *deleteCache) dataLocations() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.wanted == nil {
		d.wanted = map[string]string{}
		for i := range d.s.node.Tasks {
			t := &d.s.node.Tasks[i]
			if len(t.Deletes) > 0 {
				d.wanted[d.s.node.Table.Resolve(t.File.Path)] = t.File.Path
			}
		}
	}
	return d.wanted
}

// get reads a delete file once.
func (d *deleteCache) get(ctx context.Context, df *lake.DataFile, read func(*deleteFile) error) (*deleteFile, error) {
	d.mu.Lock()
	f := d.files[df.Path]
	if f == nil {
		f = &deleteFile{}
		d.files[df.Path] = f
	}
	d.mu.Unlock()
	f.once.Do(func() {
		defer guard(df.Path, &f.err)
		d.s.count.deleteFiles.Add(1)
		f.err = atFile(read(f), df.Path)
	})
	if f.err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return f, f.err
}

// loadDeletes collects the deletes that apply to f's rows (promise R6).
func (s *Scanner) loadDeletes(ctx context.Context, f *openFile) error {
	positions := &posSet{}
	any := false
	for _, df := range f.task.Deletes {
		var err error
		switch df.Content {
		case lake.PositionDeletes, lake.DeletionVector:
			any = true
			if df.Content == lake.DeletionVector || df.Format == "puffin" {
				err = atFile(s.loadVector(ctx, df, positions), df.Path)
			} else {
				err = s.loadPositions(ctx, df, f, positions)
			}
		case lake.EqualityDeletes:
			err = s.loadEquality(ctx, df, f)
		default:
			err = sqlerr.New(sqlerr.DataCorrupted, "a data file is listed among deletes").WithDetail("The file is %s.", df.Path)
		}
		if err != nil {
			return err
		}
	}
	if any && positions.count > 0 {
		f.deleted = positions
	}
	return nil
}

func (s *Scanner) loadPositions(ctx context.Context, df *lake.DataFile, f *openFile, into *posSet) error {
	d, err := s.deletes.get(ctx, df, func(d *deleteFile) (err error) {
		d.positions, err = s.readPositions(ctx, df)
		return err
	})
	if err != nil {
		return err
	}
	b := parquet.NewBudget(&s.deletes) // given back when the scan ends
	return into.addSorted(d.positions[s.node.Table.Resolve(f.task.File.Path)], b)
}

// Field ids of position delete files (spec, "Position Delete Files").
const (
	deletePathID = 2147483546
	deletePosID  = 2147483545
)

var positionFields = []lake.Field{
	{ID: deletePathID, Name: "file_path", Type: typText, Iceberg: "string", Required: true},
	{ID: deletePosID, Name: "pos", Type: typInt8, Iceberg: "long", Required: true},
}

// readPositions reads a position delete file, keeping what concerns the scan's data files.
func (s *Scanner) readPositions(ctx context.Context, df *lake.DataFile) (map[string][]int64, error) {
	wanted := s.deletes.dataLocations()
	out := map[string][]int64{}
	var lastPath string
	var lastLoc string
	keep := false
	err := s.readDeleteRows(ctx, df, positionFields, func(cols []deleteColumn, n int) error {
		paths, pos := cols[0].v, cols[1].v
		if err := s.deletes.Reserve(int64(n) * 8); err != nil {
			return err
		}
		for i := 0; i < n; i++ {
			if paths.Null(i) || pos.Null(i) {
				return sqlerr.New(sqlerr.DataCorrupted, "a position delete is NULL")
			}
			if p := paths.Bytes(i); string(p) != lastPath || lastLoc == "" {
				lastPath = string(p)
				lastLoc = s.node.Table.Resolve(lastPath)
				_, keep = wanted[lastLoc]
			}
			if keep {
				out[lastLoc] = append(out[lastLoc], pos.I64[pos.Row(i)])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range out {
		if !slices.IsSorted(p) {
			slices.Sort(p)
		}
		if len(p) > 0 && p[0] < 0 {
			return nil, sqlerr.New(sqlerr.DataCorrupted, "a position delete has position %d", p[0])
		}
	}
	return out, nil
}

// loadVector reads a deletion vector: a Puffin blob of type deletion-vector-v1 at the place
// that the manifest names (Puffin spec).
//
//	length of magic and bitmap, big-endian | D1 D3 39 64 | 64-bit roaring bitmap | CRC-32, big-endian
func (s *Scanner) loadVector(ctx context.Context, df *lake.DataFile, into *posSet) error {
	s.count.deleteFiles.Add(1)
	if df.Encrypted {
		return sqlerr.New(sqlerr.FeatureNotSupported, "encrypted deletion vectors cannot be read")
	}
	file, err := s.node.Table.FS().Open(ctx, s.node.Table.Resolve(df.Path), df.FileSize)
	if err != nil {
		return err
	}
	defer file.Close()
	n := df.ContentSize
	if n < 12 || df.ContentOffset < 0 || df.ContentOffset > file.Size() || n > file.Size()-df.ContentOffset {
		return errRoaring
	}
	tmp := parquet.NewBudget(s.env.Mem)
	defer tmp.Close()
	if err := tmp.Reserve(n); err != nil {
		return err
	}
	buf := make([]byte, n)
	if err := file.ReadAt(ctx, buf, df.ContentOffset); err != nil {
		return err
	}
	s.io.BytesRead.Add(n)
	body := buf[4 : n-4]
	if int64(binary.BigEndian.Uint32(buf)) != n-8 || string(body[:4]) != "\xd1\xd3\x39\x64" ||
		binary.BigEndian.Uint32(buf[n-4:]) != crc32.ChecksumIEEE(body) {
		return errRoaring
	}
	return into.readRoaring(body[4:], parquet.NewBudget(&s.deletes))
}
