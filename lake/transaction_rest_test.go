package lake

import (
	"maps"
	"slices"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// What a REST catalog can do in one request is one step: tables that are made, under whatever name
// they have at the end, and changed. Definitions that it has requests for are refused beside other
// changes, and made alone.
func TestRESTTransaction(t *testing.T) {
	f, s := restFixture(t)
	s.Transactions = true
	f.must(f.c.CreateNamespace(f.ctx, "a", nil))
	spec := TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}}
	_, err := f.c.Create(f.ctx, f.name, spec)
	f.must(err)
	named := func(n string) Name { return Name{Namespace: "a", Table: n} }
	tables := func(want ...string) {
		t.Helper()
		if got := slices.Sorted(maps.Keys(s.Tables)); !slices.Equal(got, want) {
			t.Errorf("the server has %q, want %q", got, want)
		}
	}
	publish := func(tx *Transaction, code sqlerr.Code) {
		t.Helper()
		if _, err := tx.Publish(f.ctx); sqlerr.CodeOf(err) != code {
			t.Fatalf("Publish: %v, want %q", err, code)
		}
	}
	insert := func(tx *Transaction, n Name, rows int64) {
		t.Helper()
		table, err := tx.Load(f.ctx, n)
		f.must(err)
		_, err = tx.Commit(f.ctx, n, Change{Base: table, Add: []*DataFile{f.fileOf(table, rows)}})
		f.must(err)
	}

	// A table is made, filled and renamed, and another one is changed.
	tx := Begin(f.c)
	_, err = tx.Create(f.ctx, named("tmp"), spec)
	f.must(err)
	insert(tx, named("tmp"), 3)
	f.must(tx.Rename(f.ctx, named("tmp"), named("made")))
	insert(tx, f.name, 2)
	tables("a.t")
	publish(tx, "")
	tables("a.made", "a.t")
	for _, n := range []string{"made", "t"} {
		table, err := f.c.Load(f.ctx, named(n))
		f.must(err)
		if s := table.CurrentSnapshot(); s == nil || s.Summary["added-data-files"] != "1" {
			t.Errorf("table %s has no snapshot with its file", n)
		}
	}

	// Another writer makes one of the names: nothing happens.
	tx = Begin(f.c)
	insert(tx, f.name, 1)
	_, err = tx.Create(f.ctx, named("late"), spec)
	f.must(err)
	_, err = f.c.Create(f.ctx, named("late"), spec)
	f.must(err)
	before := s.Tables["a.t"].Location
	publish(tx, sqlerr.SerializationFailure)
	if s.Tables["a.t"].Location != before {
		t.Error("one table of a transaction was committed without the other")
	}

	// A rename and a drop, each alone; with something else they are refused, and what was there
	// before the refusal can be committed.
	tx = Begin(f.c)
	f.must(tx.Rename(f.ctx, named("late"), named("renamed")))
	tables("a.late", "a.made", "a.t")
	publish(tx, "")
	tables("a.made", "a.renamed", "a.t")
	tx = Begin(f.c)
	f.must(tx.Drop(f.ctx, named("renamed"), false))
	for _, err := range []error{tx.Rename(f.ctx, named("made"), named("x")), tx.CreateNamespace(f.ctx, "b", nil)} {
		if sqlerr.CodeOf(err) != sqlerr.FeatureNotSupported {
			t.Errorf("a second definition: %v", err)
		}
	}
	if _, err := tx.Create(f.ctx, named("x"), spec); sqlerr.CodeOf(err) != sqlerr.FeatureNotSupported {
		t.Errorf("a table beside a definition: %v", err)
	}
	publish(tx, "")
	tables("a.made", "a.t")

	// A table that was changed meanwhile is not dropped.
	tx = Begin(f.c)
	f.must(tx.Drop(f.ctx, f.name, false))
	_, err = f.c.Commit(f.ctx, f.name, Change{Add: []*DataFile{f.file(4)}})
	f.must(err)
	publish(tx, sqlerr.SerializationFailure)
	tables("a.made", "a.t")

	// Who wants it has the steps one after the other: what dbt does.
	tx = Begin(f.c)
	tx.Stepwise = true
	_, err = tx.Create(f.ctx, named("tmp"), spec)
	f.must(err)
	f.must(tx.Rename(f.ctx, f.name, named("backup")))
	f.must(tx.Rename(f.ctx, named("tmp"), f.name))
	insert(tx, f.name, 7)
	f.must(tx.Drop(f.ctx, named("made"), false))
	tables("a.made", "a.t")
	uuid := s.Tables["a.t"].Meta.TableUUID()
	publish(tx, "")
	tables("a.backup", "a.t")
	if s.Tables["a.backup"].Meta.TableUUID() != uuid || s.Tables["a.t"].Meta.TableUUID() == uuid {
		t.Error("the tables did not get each other's places")
	}

	// A server that knows no transactions does so with tables as well.
	s.Transactions = false
	for _, stepwise := range []bool{false, true} {
		tx = Begin(f.c)
		tx.Stepwise = stepwise
		insert(tx, f.name, 1)
		insert(tx, named("backup"), 1)
		before, uuid := s.Tables["a.t"].Location, s.Tables["a.backup"].Location
		publish(tx, map[bool]sqlerr.Code{false: sqlerr.FeatureNotSupported}[stepwise])
		if moved := s.Tables["a.t"].Location != before && s.Tables["a.backup"].Location != uuid; moved != stepwise {
			t.Errorf("stepwise %v: moved %v", stepwise, moved)
		}
	}

	// One that fails in the middle says so.
	tx = Begin(f.c)
	tx.Stepwise = true
	f.must(tx.Drop(f.ctx, named("backup"), false))
	_, err = tx.Create(f.ctx, named("new"), spec)
	f.must(err)
	_, err = f.c.Create(f.ctx, named("new"), spec)
	f.must(err)
	publish(tx, sqlerr.SystemError)
	tables("a.new", "a.t")
}
