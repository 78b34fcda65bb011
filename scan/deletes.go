package scan

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"sync"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/scan/parquet"
	"github.com/lhsql/lhsql/vec"
)

// deleteCache keeps what delete files say for as long as data files may ask: several of them
// share one. Each is read once, by whoever needs it first.
type deleteCache struct {
	s      *Scanner
	mu     sync.Mutex
	files  map[string]*deleteFile
	users  map[string]int    // by path: how many of the scan's data files are not done; nil: not counted yet
	wanted map[string]string // location → path of the data files that the scan reads
}

type deleteFile struct {
	once      sync.Once
	err       error
	held      *parquet.Budget
	positions map[string][]int64 // by data file location, sorted
	equal     *equalitySet
}

func (d *deleteCache) init(s *Scanner) {
	d.s, d.files = s, map[string]*deleteFile{}
}

func (d *deleteCache) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.files {
		f.held.Close()
	}
	d.files = map[string]*deleteFile{}
}

// done tells that a data file needs its deletes no more. What no other one needs is forgotten:
// a table may have as many delete files as data files.
func (d *deleteCache) done(t *plan.FileTask) {
	if len(t.Deletes) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users == nil {
		d.users = map[string]int{}
		for i := range d.s.node.Tasks {
			for _, df := range d.s.node.Tasks[i].Deletes {
				d.users[df.Path]++
			}
		}
	}
	for _, df := range t.Deletes {
		d.users[df.Path]--
		if f := d.files[df.Path]; f != nil && d.users[df.Path] == 0 {
			f.held.Close()
			delete(d.files, df.Path)
		}
	}
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
		f = &deleteFile{held: parquet.NewBudget(d.s.env.Mem)}
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
	f.held = parquet.NewBudget(s.env.Mem)
	any := false
	for _, df := range f.task.Deletes {
		var err error
		switch df.Content {
		case lake.PositionDeletes, lake.DeletionVector:
			any = true
			if df.Content == lake.DeletionVector || df.Format == "puffin" {
				err = atFile(s.loadVector(ctx, df, positions, f.held), df.Path)
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
		d.positions, err = s.readPositions(ctx, df, d.held)
		return err
	})
	if err != nil {
		return err
	}
	return into.addSorted(d.positions[s.node.Table.Resolve(f.task.File.Path)], f.held)
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
func (s *Scanner) readPositions(ctx context.Context, df *lake.DataFile, held *parquet.Budget) (map[string][]int64, error) {
	wanted := s.deletes.dataLocations()
	out := map[string][]int64{}
	var lastPath string
	var lastLoc string
	keep := false
	err := s.readDeleteRows(ctx, df, positionFields, func(cols []*vec.Vector, n int) error {
		paths, pos := cols[0], cols[1]
		if err := held.Reserve(int64(n) * 8); err != nil {
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
func (s *Scanner) loadVector(ctx context.Context, df *lake.DataFile, into *posSet, held *parquet.Budget) error {
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
	before := into.count
	if err := into.readRoaring(body[4:], held); err != nil {
		return err
	}
	if got := into.count - before; before == 0 && df.RecordCount >= 0 && got != df.RecordCount {
		return sqlerr.New(sqlerr.DataCorrupted, "a deletion vector has %d positions, its manifest says %d", got, df.RecordCount)
	}
	return nil
}
