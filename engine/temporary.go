package engine

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/engine/syscat"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/bind"
)

// A session's temporary tables are Iceberg tables like others, in a catalog of the session's own
// (lake.Temporary): nobody else sees them, and their files go with the session. Since nobody
// else writes them, nothing about them waits for COMMIT; a transaction that is rolled back takes
// the catalog back to the state in which it found it.

// temporaryCatalog is the name of that catalog. It is no database: the tables show as the
// schema pg_temp_N of the session's database, which may also be written pg_temp.
const temporaryCatalog = "pg_temp"

// onCommit is the table property that says what COMMIT does to a temporary table.
const onCommit = "lhsql.on-commit"

func (s *Session) temporarySchema() string { return "pg_temp_" + strconv.Itoa(int(s.pid)) }

// isTemporarySchema tells whether the name means this session's temporary tables.
func (s *Session) isTemporarySchema(name string) bool {
	return name == "pg_temp" || name == s.temporarySchema()
}

// catalogOf finds a catalog by the name that a lake.Name carries, as the session sees it; nil if
// there is none.
func (s *Session) catalogOf(name string) lake.Catalog {
	if name == temporaryCatalog && s.temp != nil {
		return s.temp
	}
	c, ok := s.engine.Catalog(name)
	if !ok {
		return nil
	}
	if _, down := c.(unreached); down || !s.tx.block {
		return c
	}
	return s.inTransaction(c)
}

// located is the name of something in a schema of a database, the session's own schema included.
func (s *Session) located(catalog, schema, name string) lake.Name {
	if s.temp != nil && catalog == s.catalog && s.isTemporarySchema(schema) {
		return lake.Name{Catalog: temporaryCatalog, Namespace: s.temporarySchema(), Table: name}
	}
	return lake.Name{Catalog: catalog, Namespace: schema, Table: name}
}

// temporaryName is the name of a temporary table or view that is to be made.
func (s *Session) temporaryName(parts []string) (lake.Name, error) {
	n := lake.Name{Catalog: temporaryCatalog, Namespace: s.temporarySchema(), Table: parts[len(parts)-1]}
	if m := s.MySQL(); m != nil {
		// In MySQL it is in a database, as other tables are.
		db := strings.Join(parts[:len(parts)-1], ".")
		if db == "" {
			db = s.current
		}
		if db == "" {
			return n, errNoDatabase
		}
		if other, ok := m.temporary[n.Table]; ok && other != db && s.temp != nil {
			if _, err := s.temp.Load(context.Background(), n); err == nil {
				return n, sqlerr.New(sqlerr.FeatureNotSupported, "the session has a temporary table %s in the database %s already", n.Table, other)
			}
		}
		m.temporary[n.Table] = db
		parts = parts[len(parts)-1:]
	}
	if head := parts[:len(parts)-1]; len(head) > 1 || len(head) == 1 && !s.isTemporarySchema(head[0]) {
		return n, sqlerr.New(sqlerr.InvalidTableDefinition, "cannot create temporary relation in non-temporary schema")
	}
	if s.temp == nil {
		dir, err := s.engine.scratchFolder()
		if err != nil {
			return n, err
		}
		dir = filepath.Join(dir, "session-"+strconv.Itoa(int(s.pid)))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return n, sqlerr.Wrap(err, sqlerr.IOError, "make a folder for temporary tables")
		}
		s.temp, s.tempFolder = lake.OpenTemporary(s.engine.known, temporaryCatalog, s.temporarySchema(), dir), dir
	}
	return n, nil
}

// makesTemporary tells whether CREATE with this name, or these tables beneath a view, makes
// something temporary.
func (s *Session) makesTemporary(said bool, parts []string, b *bind.Bound) bool {
	if said || len(parts) == 2 && s.isTemporarySchema(parts[0]) {
		return true
	}
	if b == nil {
		return false
	}
	for _, u := range b.Tables {
		if u.Relation.Table != nil && u.Relation.Table.Name.Catalog == temporaryCatalog {
			return true
		}
	}
	return false
}

// temporaryState is what the session's catalog holds now.
func (s *Session) temporaryState() lake.TemporaryState {
	if s.temp == nil {
		return lake.TemporaryState{}
	}
	return s.temp.State()
}

// restoreTemporary takes the catalog back to a state.
func (s *Session) restoreTemporary(to lake.TemporaryState) {
	if s.temp == nil || s.temp.State().Equal(to) {
		return
	}
	s.temp.Restore(to)
	s.forgetTemporary()
}

// forgetTemporary makes the session look anew at its temporary tables.
func (s *Session) forgetTemporary() {
	for n := range s.loaded {
		if n.Catalog == temporaryCatalog {
			delete(s.loaded, n)
		}
	}
	s.host = nil
}

// commitTemporary does what ON COMMIT says, at the end of a transaction that succeeds.
func (s *Session) commitTemporary(ctx context.Context) error {
	if s.temp == nil || !s.tempOnCommit {
		return nil
	}
	defer s.forgetTemporary()
	names, err := s.temp.List(ctx, s.temporarySchema())
	if err != nil {
		return err
	}
	for _, n := range names {
		t, err := s.temp.Load(ctx, n)
		if err != nil {
			return err
		}
		switch t.Properties()[onCommit] {
		case "drop":
			err = s.temp.Drop(ctx, n, true)
		case "delete rows":
			var ch lake.Change
			var some bool
			if ch, some, err = truncation(ctx, t, t.CurrentSnapshot(), ""); err == nil && some {
				_, err = s.temp.Commit(ctx, n, ch)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endTemporary ends a transaction for the temporary tables, unless a block goes on.
func (s *Session) endTemporary(ctx context.Context) error {
	if s.temp == nil || s.tx.block {
		return nil
	}
	err := s.commitTemporary(ctx)
	s.sweepTemporary()
	return err
}

// writesTemporary tells whether all that a statement writes is temporary: a transaction that only
// reads may do that.
func writesTemporary(b *bind.Bound) bool {
	some := false
	for _, u := range b.Tables {
		if u.Write && u.Relation.Table != nil {
			if u.Relation.Table.Name.Catalog != temporaryCatalog {
				return false
			}
			some = true
		}
	}
	return some
}

// withTemporary puts the session's own schema before those of a path that does not place it.
func (s *Session) withTemporary(path []string) []string {
	if s.temp == nil {
		return path
	}
	for _, p := range path {
		if s.isTemporarySchema(p) {
			return path
		}
	}
	return append([]string{s.temporarySchema()}, path...)
}

// oidOf is a relation's OID as the system catalogs of the session's database show it.
func (s *Session) oidOf(n lake.Name) uint32 {
	if n.Catalog == temporaryCatalog {
		n.Catalog = s.catalog
	}
	return syscat.OID(n.Catalog, n.Namespace, n.Table)
}

// sweepTemporary removes the files of temporary tables that are gone, once no transaction can
// bring them back.
func (s *Session) sweepTemporary() {
	if s.temp == nil || s.tx.block {
		return
	}
	if now := s.temp.State(); !now.Equal(s.tempSwept) {
		s.tempSwept = now
		if err := s.temp.Sweep(); err != nil {
			s.engine.cfg.Log("temporary tables: %v", err)
		}
	}
}

// discardTemporary drops all temporary tables and views (DISCARD TEMP).
func (s *Session) discardTemporary() {
	s.restoreTemporary(lake.TemporaryState{})
	s.sweepTemporary()
}

// closeTemporary ends the session's catalog and its folder.
func (s *Session) closeTemporary() {
	if s.temp == nil {
		return
	}
	s.temp = nil
	if err := os.RemoveAll(s.tempFolder); err != nil {
		s.engine.cfg.Log("temporary tables: %v", err)
	}
}
