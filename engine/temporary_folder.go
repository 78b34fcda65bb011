package engine

import (
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// scratch is the process's folder of temporary tables: each session's lie in one below it. It is
// locked as long as the process lives, so that the next process can tell what a killed one left.
type scratch struct {
	mu   sync.Mutex
	dir  string
	lock *os.File
}

const (
	scratchPattern = "lhsql-tables-*"
	scratchLock    = "lock"
)

func (e *Engine) scratchRoot() string {
	if e.cfg.TempDir != "" {
		return e.cfg.TempDir
	}
	return os.TempDir()
}

// scratchFolder makes the folder where it is not there yet.
func (e *Engine) scratchFolder() (string, error) {
	e.scratch.mu.Lock()
	defer e.scratch.mu.Unlock()
	if e.scratch.dir != "" {
		return e.scratch.dir, nil
	}
	root, err := filepath.Abs(e.scratchRoot())
	if err == nil {
		removeLeftScratch(root)
		var dir string
		if dir, err = os.MkdirTemp(root, scratchPattern); err == nil {
			if e.scratch.lock, err = lockFile(filepath.Join(dir, scratchLock)); err == nil {
				e.scratch.dir = dir
				return dir, nil
			}
			os.RemoveAll(dir)
		}
	}
	return "", sqlerr.Wrap(err, sqlerr.IOError, "make a folder for temporary tables")
}

func (e *Engine) closeScratch() {
	e.scratch.mu.Lock()
	defer e.scratch.mu.Unlock()
	if e.scratch.dir == "" {
		return
	}
	if err := os.RemoveAll(e.scratch.dir); err != nil {
		e.cfg.Log("temporary tables: %v", err)
	}
	e.scratch.lock.Close()
	e.scratch.dir = ""
}

// removeLeftScratch removes the folders of processes that are no more. One that is being made
// has no lock yet, for an instant.
func removeLeftScratch(root string) {
	dirs, _ := filepath.Glob(filepath.Join(root, scratchPattern))
	for _, d := range dirs {
		path := filepath.Join(d, scratchLock)
		if _, err := os.Stat(path); err != nil {
			st, err := os.Stat(d)
			if err == nil && time.Since(st.ModTime()) > time.Minute {
				os.RemoveAll(d)
			}
			continue
		}
		if f, err := lockFile(path); err == nil {
			os.RemoveAll(d)
			f.Close()
		}
	}
}
