package exec

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
	"github.com/pierrec/lz4/v4"
)

// A spillFile holds batches that memory had no room for, as compressed blocks. It is an unnamed
// temporary file: the name goes as soon as the file is open, so nothing stays behind even if the
// server dies. Writers may be several goroutines; readers too.
type spillFile struct {
	dir     string
	account *Account

	mu    sync.Mutex
	f     *os.File
	named bool // the system does not let open files lose their name
	size  int64
	// written is the bytes of all blocks, for EXPLAIN ANALYZE.
	written *atomic.Int64 // nil: nobody asks
}

// block is where a batch lies in its file.
type block struct {
	off         int64
	stored, raw int32 // stored = raw: not compressed
}

func newSpillFile(e *Env) *spillFile {
	return &spillFile{dir: e.SpillDir, account: e.Account, written: e.spilled}
}

func (s *spillFile) open() error {
	if s.f != nil {
		return nil
	}
	f, err := os.CreateTemp(s.dir, fmt.Sprintf("%s%d-*", spillName, os.Getpid()))
	if err != nil {
		return spillError(err)
	}
	s.f = f
	s.named = os.Remove(f.Name()) != nil
	return nil
}

func spillError(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return sqlerr.Wrap(err, sqlerr.DiskFull, "writing a temporary file")
	}
	return sqlerr.Wrap(err, sqlerr.IOError, "using a temporary file")
}

// spillWriter makes blocks; for one goroutine.
type spillWriter struct {
	file       *spillFile
	raw, small []byte
	comp       *lz4.Compressor // large: made when something is written
}

// write stores the rows sel of cols as one block.
func (w *spillWriter) write(cols []*vec.Vector, sel []uint16, rows int) (block, error) {
	w.raw = encodeBatch(w.raw[:0], cols, sel, rows)
	if n := lz4.CompressBlockBound(len(w.raw)); cap(w.small) < n {
		w.small = make([]byte, n)
	}
	if w.comp == nil {
		w.comp = new(lz4.Compressor)
	}
	out := w.small[:cap(w.small)]
	n, err := w.comp.CompressBlock(w.raw, out)
	out = out[:n]
	if err != nil || n == 0 || n >= len(w.raw) {
		out = w.raw
	}
	s := w.file
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.open(); err != nil {
		return block{}, err
	}
	if err := s.account.spill(int64(len(out))); err != nil {
		return block{}, err
	}
	b := block{off: s.size, stored: int32(len(out)), raw: int32(len(w.raw))}
	s.size += int64(len(out))
	if _, err := s.f.WriteAt(out, b.off); err != nil {
		return block{}, spillError(err)
	}
	if s.written != nil {
		s.written.Add(int64(len(out)))
	}
	return b, nil
}

// spillReader reads blocks; for one goroutine.
type spillReader struct {
	file       *spillFile
	raw, small []byte
}

// read gives a block's rows as a dense batch that the caller owns.
func (r *spillReader) read(b block, t []types.Type) (*vec.Batch, error) {
	r.small = grown(r.small, int(b.stored))
	if _, err := r.file.f.ReadAt(r.small, b.off); err != nil {
		return nil, spillError(err)
	}
	raw := r.small
	if b.stored != b.raw {
		r.raw = grown(r.raw, int(b.raw))
		n, err := lz4.UncompressBlock(r.small, r.raw)
		if err != nil {
			return nil, spillError(err)
		}
		raw = r.raw[:n]
	}
	return decodeBatch(raw, t)
}

func (s *spillFile) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f == nil {
		return nil
	}
	f := s.f
	s.f = nil
	s.account.unspill(s.size)
	s.size = 0
	err := f.Close()
	if s.named {
		os.Remove(f.Name())
	}
	return err
}

// spillName begins the names of spill files; the process's number follows.
const spillName = "lhsql-spill-"

// SweepSpillFiles removes what processes that have died left in dir ("": the system's). Where
// open files lose their names, that is only what died between making one and unnaming it.
func SweepSpillFiles(dir string) {
	if dir == "" {
		dir = os.TempDir()
	}
	files, err := filepath.Glob(filepath.Join(dir, spillName+"*"))
	if err != nil {
		return
	}
	for _, f := range files {
		text, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(f), spillName), "-")
		pid, err := strconv.Atoi(text)
		if err != nil || pid <= 0 || pid == os.Getpid() || syscall.Kill(pid, 0) != syscall.ESRCH {
			continue
		}
		os.Remove(f)
	}
}
