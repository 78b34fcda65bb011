package maintain

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/lhsql/lhsql/internal/guard"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/scan"
	"github.com/lhsql/lhsql/scan/parquet"
	"github.com/lhsql/lhsql/types"
)

// objectHits is what a search of one object's bytes found.
type objectHits struct {
	Kind   string // "parquet", "avro", "puffin", "text"
	Values int64  // of the fields that are looked for
	// Lacks are the fields of a default that is looked for which a Parquet file does not have: its rows, Rows
	// of them, take the default. The file itself does not hold it.
	Lacks []int
	Rows  int64
	Where []string
	Cut   string // a bound in a manifest is the beginning of the value, and perhaps of others
	Gone  bool   // it is not there
	Err   error  // it says what it is and cannot be read as that
}

func (h *objectHits) any() bool { return h.Values > 0 || len(h.Where) > 0 }

// searching looks through objects, each once: none that the format knows is ever replaced.
type searching struct {
	m   *matcher
	fs  lake.FS
	mem scan.Memory

	mu    sync.Mutex
	known map[string]objectHits // of what was searched whole
	part  map[string]objectHits // of what was searched in the fields alone
}

func newSearching(m *matcher, fs lake.FS, mem scan.Memory) *searching {
	return &searching{m: m, fs: fs, mem: mem, known: map[string]objectHits{}, part: map[string]objectHits{}}
}

// window is how much of a file is looked through at a time.
const searchWindow = 1 << 20

// object looks through an object. whole: every byte, else only the fields' values where it is a
// Parquet file, passing over what statistics leave out. cached: what is known of it will do.
func (s *searching) object(ctx context.Context, path string, size int64, whole, cached bool) (h objectHits) {
	if cached {
		s.mu.Lock()
		h, ok := s.known[path]
		if !ok && !whole {
			h, ok = s.part[path]
		}
		s.mu.Unlock()
		if ok {
			return h
		}
	}
	defer func() {
		if !cached || h.Gone || ctx.Err() != nil {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if whole {
			s.known[path] = h
		} else {
			s.part[path] = h
		}
	}()
	f, err := s.fs.Open(ctx, path, size)
	if err != nil {
		return objectHits{Gone: errors.Is(err, fs.ErrNotExist), Err: err}
	}
	defer f.Close()
	magic := make([]byte, min(4, f.Size()))
	if err := f.ReadAt(ctx, magic, 0); err != nil {
		return objectHits{Gone: errors.Is(err, fs.ErrNotExist), Err: err}
	}
	if string(magic) == "PAR1" {
		return s.parquet(ctx, f, path, whole)
	}
	if bytes.HasPrefix(magic, []byte("ORC")) || string(magic) == "PARE" {
		return objectHits{Kind: "closed", Err: sqlerr.New(sqlerr.FeatureNotSupported, "ORC files and encrypted ones are not read")}
	}
	if !decoded(magic) {
		h := objectHits{Kind: "text"}
		hit, err := s.raw(ctx, f)
		if hit {
			h.Where = append(h.Where, "bytes of the file")
		}
		h.Err = err
		return h
	}
	if err := room.Take(int(f.Size())); err != nil {
		return objectHits{Err: err}
	}
	b := make([]byte, f.Size())
	if err := f.ReadAt(ctx, b, 0); err != nil {
		return objectHits{Err: err}
	}
	return s.metadata(b)
}

// decoded tells by its first bytes whether a file is one whose plain bytes are others than those that
// lie there: Avro, Puffin, JSON, gzip.
func decoded(magic []byte) bool {
	return bytes.HasPrefix(magic, []byte("Obj\x01")) || bytes.HasPrefix(magic, []byte("PFA1")) || bytes.HasPrefix(magic, []byte{0x1f, 0x8b}) ||
		bytes.HasPrefix(magic, []byte("{"))
}

func (s *searching) parquet(ctx context.Context, f lake.File, path string, whole bool) objectHits {
	h := objectHits{Kind: "parquet"}
	has := map[int]bool{}
	statistics := false
	look := parquet.Search{Stats: !whole, Want: func(root, n *parquet.Node, path []string) (types.Type, []types.Datum) {
		var x *matchField
		if statistics = s.m.isPartitionStatistics(root); statistics {
			x = s.m.ofPartition(n)
		} else {
			x = s.m.at(n, path)
		}
		if x == nil {
			return types.Type{}, nil
		}
		has[x.field.ID] = true
		return x.field.Type, x.values
	}}
	if whole {
		look.Needles = s.m.needles
	}
	found, err := scan.SearchFile(ctx, f, path, s.mem, look)
	if err != nil {
		h.Err = err
	}
	h.Values, h.Rows = found.Values, found.Rows
	for _, id := range s.m.defaults {
		if err == nil && !has[id] && found.Rows > 0 && !statistics {
			h.Lacks = append(h.Lacks, id)
		}
	}
	for _, c := range sortedKeys(found.Pages) {
		h.Where = append(h.Where, fmt.Sprintf("%d pages of column %s", found.Pages[c], c))
	}
	if whole && len(s.m.needles) > 0 { // footers, statistics, indexes
		hit, err := s.raw(ctx, f)
		if err != nil && h.Err == nil {
			h.Err = err
		}
		if hit && !h.any() {
			h.Where = append(h.Where, "bytes of the file")
		}
	}
	return h
}

// raw looks for needles in a file's bytes as they are.
func (s *searching) raw(ctx context.Context, f lake.File) (bool, error) {
	keep := 0
	for _, n := range s.m.needles {
		keep = max(keep, len(n)-1)
	}
	buf := make([]byte, 0, searchWindow+keep)
	for off := int64(0); off < f.Size(); {
		n := int(min(searchWindow, f.Size()-off))
		tail := copy(buf[:cap(buf)], buf[max(len(buf)-keep, 0):])
		buf = buf[:tail+n]
		if err := f.ReadAt(ctx, buf[tail:], off); err != nil {
			return false, err
		}
		if s.m.inBytes(buf) {
			return true, nil
		}
		off += int64(n)
	}
	return false, nil
}

// metadata looks through a file that is no Parquet file.
func (s *searching) metadata(b []byte) objectHits {
	h := objectHits{Kind: "text"}
	note := func(where string) {
		if !slices.Contains(h.Where, where) {
			h.Where = append(h.Where, where)
		}
	}
	switch {
	case bytes.HasPrefix(b, []byte("Obj\x01")):
		h.Kind = "avro"
	case bytes.HasPrefix(b, []byte("PFA1")):
		h.Kind = "puffin"
	}
	h.Err = guard.Run(func() error {
		return lake.PlainBytes(b, func(part string, plain []byte) {
			if s.m.inBytes(plain) {
				note(part)
			}
		})
	})
	if h.Kind != "avro" {
		return h
	}
	// Values that are no text are found by what the entries say.
	if es, spec, ok := s.m.table.EntriesOf(b, s.m.ids()); ok {
		for i := range es {
			if where, _ := s.m.bound(es[i].File); where != "" {
				note(where)
			}
			if h.Cut == "" {
				h.Cut = s.m.cut(es[i].File)
			}
			if where, ok := s.m.partition(spec, es[i].File.Partition); ok {
				note("partition value " + where)
			}
		}
	} else if list, ok := lake.ManifestsOf(b); ok {
		for _, mf := range list {
			if where, ok := s.m.summary(mf); ok {
				note("partition summary " + where)
			}
		}
	}
	return h
}

// eachAtOnce calls f for the items, some at a time.
func eachAtOnce[T any](ctx context.Context, list []T, f func(T)) error {
	var wg sync.WaitGroup
	next := make(chan T)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for range min(removers, len(list)) {
		wg.Go(func() {
			for x := range next {
				if err := guard.Run(func() error { f(x); return nil }); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, x := range list {
		if ctx.Err() != nil {
			break
		}
		next <- x
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// digest is an object's size and SHA-256; ok false: it is not there.
func digest(ctx context.Context, store lake.FS, path string) (size int64, sum string, ok bool, err error) {
	f, err := store.Open(ctx, path, -1)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, "", false, nil
	}
	if err != nil {
		return 0, "", false, err
	}
	defer f.Close()
	h := sha256.New()
	buf := make([]byte, searchWindow)
	for off := int64(0); off < f.Size(); {
		b := buf[:min(int64(len(buf)), f.Size()-off)]
		if err := f.ReadAt(ctx, b, off); err != nil {
			return 0, "", false, err
		}
		h.Write(b)
		off += int64(len(b))
	}
	return f.Size(), hex.EncodeToString(h.Sum(nil)), true, nil
}
