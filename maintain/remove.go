package maintain

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/lhsql/lhsql/internal/guard"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/lake/store"
)

// Removed counts what was removed, or would be.
type Removed struct {
	Files [lake.HeldMetadata + 1]int64 // by kind
	Bytes int64                        // where sizes are known
	// Failed are files that could not be removed, Err why the first of them could not. They are no
	// longer held: remove_orphan_files finds them.
	Failed int64
	Err    error
}

// Count is how many files of all kinds.
func (r *Removed) Count() int64 {
	n := int64(0)
	for _, k := range r.Files {
		n += k
	}
	return n
}

func (r *Removed) count(h *lake.Held) {
	r.Files[h.Kind]++
	if h.Size > 0 {
		r.Bytes += h.Size
	}
}

// removers is how many files are removed at a time where the caller does not say.
const removers = 8

// remover removes files, some at a time. One that cannot be removed does not hold up the others.
type remover struct {
	ctx   context.Context
	files store.FS
	job   *Job
	dry   bool

	queue chan lake.Held
	wg    sync.WaitGroup
	mu    sync.Mutex
	out   Removed
}

func newRemover(ctx context.Context, g Target, at int, dry bool) *remover {
	if at <= 0 {
		at = removers
	}
	r := &remover{ctx: ctx, files: g.Table.FS(), job: g.Job, dry: dry, queue: make(chan lake.Held, at)}
	if dry {
		return r
	}
	for range at {
		r.wg.Add(1)
		go func() {
			defer r.wg.Done()
			for h := range r.queue {
				r.done(&h, guard.Run(func() error { return r.remove(&h) }))
			}
		}()
	}
	return r
}

func (r *remover) remove(h *lake.Held) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if err := lake.Step(r.ctx, "remove"); err != nil {
		return err
	}
	if err := r.files.Remove(r.ctx, h.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (r *remover) done(h *lake.Held, err error) {
	r.mu.Lock()
	if err == nil {
		r.out.count(h)
	} else {
		r.out.Failed++
		if r.out.Err == nil {
			r.out.Err = err
		}
	}
	r.mu.Unlock()
	r.job.Done(1, max(h.Size, 0))
}

// add removes a file soon.
func (r *remover) add(h *lake.Held) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	r.job.Plan(1, max(h.Size, 0))
	if r.dry {
		r.done(h, nil)
		return nil
	}
	c := *h
	c.Entry, c.Manifest = nil, nil // the walk's
	r.queue <- c
	return nil
}

// wait ends when all files that were added are gone or have failed.
func (r *remover) wait() Removed {
	close(r.queue)
	r.wg.Wait()
	return r.out
}

// discard removes a file that was written and will not be committed. One that cannot be removed is an orphan,
// which harms nobody: there is nothing else to do about it.
func discard(ctx context.Context, t *lake.Table, path string) {
	_ = t.FS().Remove(context.WithoutCancel(ctx), t.Resolve(path))
}
