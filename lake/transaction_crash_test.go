package lake

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// A transaction's tables, names, views and schemas move at once: whatever step of its commit is the
// last, readers have all of it or nothing. After the swap it is found to have happened.
func TestTransactionCrash(t *testing.T) {
	crash := errors.New("crash")
	for last := 0; ; last++ {
		f := newFixture(t, "2")
		n := func(name string) Name { return Name{Namespace: "a", Table: name} }
		spec := TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}}
		for _, name := range []string{"b", "gone", "other"} {
			_, err := f.c.Create(f.ctx, n(name), spec)
			f.must(err)
		}
		tx := Begin(f.c)
		table, err := tx.Load(f.ctx, f.name)
		f.must(err)
		_, err = tx.Commit(f.ctx, f.name, Change{Base: table, Add: []*DataFile{f.file(3)}})
		f.must(err)
		f.must(tx.CreateNamespace(f.ctx, "new", nil))
		_, err = tx.Create(f.ctx, Name{Namespace: "new", Table: "made"}, spec)
		f.must(err)
		f.must(tx.Rename(f.ctx, f.name, n("aside")))
		f.must(tx.Rename(f.ctx, n("b"), n("t")))
		f.must(tx.Rename(f.ctx, n("aside"), n("b")))
		f.must(tx.Rename(f.ctx, n("other"), n("renamed")))
		f.must(tx.Drop(f.ctx, n("gone"), false))
		_, err = tx.CreateView(f.ctx, n("v"), ViewSpec{Schema: spec.Schema, Representations: map[string]string{"lhsql": "SELECT 1 AS x"}}, false)
		f.must(err)

		steps, at := 0, ""
		_, err = tx.Publish(WithYield(f.ctx, func(step string) error {
			if steps++; steps > last {
				at = step
				return crash
			}
			return nil
		}))
		done := at == "" || at == "swapped"
		if done != (err == nil) {
			t.Fatalf("crash at %q: %v", at, err)
		}
		if got := f.seen(); done && got != "a: b=1 renamed=0 t=0 | v; new: made=0 | " || !done && got != "a: b=0 gone=0 other=0 t=0 | " {
			t.Errorf("crash at %q: %s", at, got)
		}
		if at == "" {
			if last < 4 {
				t.Errorf("only %d steps", last)
			}
			return
		}
	}
}

// seen is what readers find: each schema's tables with their numbers of files, and its views.
func (f *fixture) seen() string {
	ctx := context.Background()
	var out []string
	spaces, err := f.c.Namespaces(ctx)
	f.must(err)
	for _, ns := range spaces {
		tables, err := f.c.List(ctx, ns)
		f.must(err)
		views, err := f.c.Views(ctx, ns)
		f.must(err)
		line := ns + ":"
		for _, n := range tables {
			table, err := f.c.Load(ctx, n)
			f.must(err)
			files := "0"
			if s := table.CurrentSnapshot(); s != nil {
				files = s.Summary["total-data-files"]
			}
			line += " " + n.Table + "=" + files
		}
		line += " | "
		for _, n := range views {
			line += n.Table
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}
