package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/room"
)

// LocalFS is the local disk.
type LocalFS struct {
	volatile bool // what is written need not outlive the process: nothing is flushed to the disk
}

// TempMark is in the name of files that are being written. Readers of folders skip them.
const TempMark = ".lhsql-tmp-"

// Open implements FS.
func (LocalFS) Open(ctx context.Context, path string, size int64) (File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := os.Open(Canonical(path))
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && st.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &localFile{f: f, info: st}, nil
}

type localFile struct {
	f    *os.File
	info fs.FileInfo
}

func (l *localFile) Size() int64      { return l.info.Size() }
func (l *localFile) Identity() string { return identityOf(l.f.Name(), l.info) }
func (l *localFile) Close() error     { return l.f.Close() }

func (l *localFile) ReadAt(ctx context.Context, p []byte, off int64) error {
	const piece = 8 << 20 // so that a cancelled query does not wait for a whole row group
	for len(p) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(len(p), piece)
		if _, err := l.f.ReadAt(p[:n], off); err != nil {
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("%s: %w: %d bytes at %d are not there", l.f.Name(), io.ErrUnexpectedEOF, n, off)
			}
			return err
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}

// ReadAll implements FS.
func (LocalFS) ReadAll(ctx context.Context, path string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path = Canonical(path)
	// It is read whole: a file that is too large for the server must not be.
	if st, err := os.Stat(path); err == nil {
		if err := room.Take(int(st.Size())); err != nil {
			return nil, err
		}
	}
	return os.ReadFile(path)
}

// Identity implements Identified.
func (LocalFS) Identity(_ context.Context, path string) string {
	path = Canonical(path)
	st, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return identityOf(path, st)
}

// identityOf tells local files of one name apart: a table's folder may be deleted and made anew, or
// another copy moved to its place.
func identityOf(path string, st fs.FileInfo) string {
	b := append([]byte(path), '#')
	b = strconv.AppendInt(b, st.Size(), 36)
	b = append(b, '@')
	b = strconv.AppendInt(b, st.ModTime().UnixNano(), 36)
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		b = append(b, '.')
		b = strconv.AppendUint(b, sys.Ino, 36)
	}
	return string(b)
}

// Create implements FS.
func (l LocalFS) Create(ctx context.Context, path string, data []byte) error {
	w, err := l.CreateStream(ctx, path)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		w.Abort()
		return err
	}
	if err := w.Commit(ctx); err != nil {
		w.Abort()
		return err
	}
	return nil
}

// CreateStream implements FS.
func (l LocalFS) CreateStream(ctx context.Context, path string) (Writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path = Canonical(path)
	dir := filepath.Dir(path)
	if err := l.makeFolders(dir); err != nil {
		return nil, err
	}
	tmp := filepath.Join(dir, TempMark+uuid.NewString())
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	return &localWriter{fs: l, f: f, tmp: tmp, path: path}, nil
}

// makeFolders creates dir and those above it that are missing, each made durable in its parent.
func (l LocalFS) makeFolders(dir string) error {
	if st, err := os.Stat(dir); err == nil {
		if !st.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := l.makeFolders(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return l.syncFolder(parent)
}

func (l LocalFS) syncFolder(dir string) error {
	if l.volatile {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

type localWriter struct {
	fs        LocalFS
	f         *os.File
	tmp, path string
	done      bool
}

func (w *localWriter) Write(p []byte) (int, error) { return w.f.Write(p) }

// Commit publishes the file (S1): fsync, link under its name, which fails if the name is
// taken, remove the temporary name, fsync the folder.
func (w *localWriter) Commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !w.fs.volatile {
		if err := w.f.Sync(); err != nil {
			return err
		}
	}
	if err := w.f.Close(); err != nil {
		return err
	}
	if err := renameNew(w.tmp, w.path); err != nil {
		return err
	}
	w.done = true
	if err := w.fs.syncFolder(filepath.Dir(w.path)); err != nil {
		os.Remove(w.path) // its caller takes it for not written
		return err
	}
	return nil
}

func (w *localWriter) Abort() {
	if w.done {
		return
	}
	w.done = true
	w.f.Close()
	os.Remove(w.tmp)
}

// renameNew moves tmp to path without replacing. A hard link fails on an existing name on
// every local file system that has links; where it has none, an exclusive create guards it.
func renameNew(tmp, path string) error {
	err := os.Link(tmp, path)
	if err == nil {
		return os.Remove(tmp)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	return renameNoReplace(tmp, path)
}

// Remove implements FS.
func (LocalFS) Remove(ctx context.Context, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return os.Remove(Canonical(path))
}

// List implements FS.
func (LocalFS) List(ctx context.Context, prefix string, yield func(Object) error) error {
	root := Canonical(prefix)
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			if p != root && errors.Is(err, fs.ErrNotExist) {
				return nil // it went while we walked
			}
			return err
		}
		if !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return yield(Object{Path: p, Size: info.Size(), Modified: info.ModTime(), Partial: strings.Contains(d.Name(), TempMark)})
	})
}
