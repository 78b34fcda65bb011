package store

import "context"

type storeStepsKey struct{}

// WithSteps makes stores under ctx call step around all that they do to an object: "read", "list",
// "create", "write", "commit", "abort" and "remove" before it, where an error keeps it from being done; and
// "created", "committed" and "removed" after it, where an error is all that the caller hears of what was done.
// So a test has a store fail, or a process die between any two of its accesses.
func WithSteps(ctx context.Context, step func(op, path string) error) context.Context {
	return context.WithValue(ctx, storeStepsKey{}, step)
}

func storeSteps(ctx context.Context) func(op, path string) error {
	s, _ := ctx.Value(storeStepsKey{}).(func(op, path string) error)
	return s
}

// around does something to an object, between the steps before and after.
func around(ctx context.Context, before, after, path string, do func() error) error {
	step := storeSteps(ctx)
	if step == nil {
		return do()
	}
	if err := step(before, path); err != nil {
		return err
	}
	if err := do(); err != nil || after == "" {
		return err
	}
	return step(after, path)
}

// steppedFile and steppedWriter take the steps of objects that are open.
type steppedFile struct {
	File
	path string
}

func (f steppedFile) ReadAt(ctx context.Context, p []byte, off int64) error {
	return around(ctx, "read", "", f.path, func() error { return f.File.ReadAt(ctx, p, off) })
}

type steppedWriter struct {
	Writer
	ctx  context.Context
	path string
}

func (w steppedWriter) Write(p []byte) (n int, err error) {
	err = around(w.ctx, "write", "", w.path, func() (err error) { n, err = w.Writer.Write(p); return err })
	return n, err
}

func (w steppedWriter) Commit(ctx context.Context) error {
	return around(w.ctx, "commit", "committed", w.path, func() error { return w.Writer.Commit(ctx) })
}

func (w steppedWriter) Abort() {
	_ = around(w.ctx, "abort", "", w.path, func() error { w.Writer.Abort(); return nil })
}
