package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/guard"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/timetravel"
	"github.com/lhsql/lhsql/types"
)

// variables is what reads MySQL's variables; nil in other dialects.
func (s *Session) variables() func(scope, name string) (types.Datum, types.Type, bool, error) {
	if s.my == nil {
		return nil
	}
	return s.my.variable
}

// bindEnv is what binding may ask of this session. args nil: at Prepare.
func (s *Session) bindEnv(ctx context.Context, args []types.Datum) *bind.Env {
	env := &bind.Env{Context: ctx, Catalog: relations{s}, Dialect: s.dialect.bind, Eval: s.evalCtx(ctx), Args: args, Parse: s.dialect.parse, Variable: s.variables(), ViewDialect: viewDialect, Uses: s.engine.guard != nil}
	if m := s.MySQL(); m != nil {
		env.OnlyChanges = !m.FoundRows
	}
	return env
}

// relations finds what a name stands for; it implements bind.Catalog.
//
// A name is [catalog.][namespace.]table[.suffix]: which of the parts are there is found by
// looking, the longest reading without a suffix first, because a table named like a branch or
// a metadata table must stay reachable. suffix is branch_x, tag_x or a metadata table.
type relations struct{ s *Session }

// Relation implements bind.Catalog.
func (r relations) Relation(ctx context.Context, ref bind.TableRef) (*bind.Relation, error) {
	parts := ref.Parts
	last := parts[len(parts)-1]
	rel, err := r.s.names().relation(ctx, ref, parts, suffix{})
	if !isNotFound(err) {
		return rel, err
	}
	with := func(name string) []string { return append(append([]string(nil), parts[:len(parts)-1]...), name) }
	if base, meta, ok := strings.Cut(last, "$"); ok && base != "" {
		if _, known := timetravel.MetadataTable(meta); known {
			return r.s.names().relation(ctx, ref, with(base), suffix{meta: meta})
		}
	}
	if name, at, ok := strings.Cut(last, "@"); ok && name != "" && at != "" {
		return r.s.names().relation(ctx, ref, with(name), suffix{at: at})
	}
	if x, ok := suffixOf(last); ok && len(parts) > 1 {
		if rel, e := r.s.names().relation(ctx, ref, parts[:len(parts)-1], x); !isNotFound(e) {
			return rel, e
		}
	}
	return nil, err
}

// suffix is what a name says beyond the table: a ref, or a metadata table.
type suffix struct{ branch, tag, at, meta string }

func suffixOf(part string) (suffix, bool) {
	if b, ok := strings.CutPrefix(part, "branch_"); ok && b != "" {
		return suffix{branch: b}, true
	}
	if t, ok := strings.CutPrefix(part, "tag_"); ok && t != "" {
		return suffix{tag: t}, true
	}
	if _, ok := timetravel.MetadataTable(part); ok {
		return suffix{meta: part}, true
	}
	return suffix{}, false
}

func isNotFound(err error) bool {
	var nf *lake.NotFound
	return errors.As(err, &nf)
}

// in finds one table, view or system table in a namespace.
func (r relations) in(ctx context.Context, ref bind.TableRef, catalog, schema, table string, x suffix) (*bind.Relation, error) {
	s := r.s
	if v, ok := s.names().systemTable(ctx, catalog, schema, table); ok && x == (suffix{}) {
		return &bind.Relation{Catalog: catalog, Schema: schema, Name: table, OID: v.OID(), Kind: "system table", Virtual: v}, nil
	}
	if v, ok := s.systemView(schema, table); ok && x == (suffix{}) {
		return &bind.Relation{Catalog: catalog, Schema: schema, Name: table, OID: s.oidOf(lake.Name{Catalog: catalog, Namespace: schema, Table: table}), Kind: "system table", Virtual: v}, nil
	}
	if schema == "pg_catalog" || schema == "information_schema" {
		// Every unqualified name is looked up here first: the catalog, which may be far, is not asked.
		return nil, &lake.NotFound{What: "relation", Name: table}
	}
	n := s.located(catalog, schema, table)
	t, err := s.loadTable(ctx, n)
	if err != nil {
		if isNotFound(err) && x == (suffix{}) {
			return r.view(ctx, ref, n)
		}
		return nil, err
	}
	rel := &bind.Relation{Catalog: n.Catalog, Schema: n.Namespace, Name: table, OID: s.oidOf(n), Table: t}
	err = r.state(ctx, rel, ref, x)
	rel.Key = primaryKey(rel)
	return rel, err
}

// primaryKey are the places of the columns of a table's primary key, if it is enforced.
func primaryKey(rel *bind.Relation) []int {
	if rel.Table == nil || rel.TableSchema == nil {
		return nil
	}
	keys := rel.Table.Keys()
	if len(keys) == 0 || !keys[0].Primary || keys[0].NotEnforced {
		return nil
	}
	var out []int
	for _, id := range keys[0].Columns {
		i := slices.IndexFunc(rel.TableSchema.Fields, func(f lake.Field) bool { return f.ID == id })
		if i < 0 {
			return nil // the schema of before
		}
		out = append(out, i)
	}
	return out
}

// view finds a view.
func (r relations) view(ctx context.Context, ref bind.TableRef, n lake.Name) (*bind.Relation, error) {
	v, err := r.s.catalogOf(n.Catalog).LoadView(ctx, n)
	if err != nil {
		return nil, err
	}
	asOf, _ := r.s.settings.get("lhsql.as_of")
	return &bind.Relation{Catalog: n.Catalog, Schema: n.Namespace, Name: n.Table, OID: r.s.oidOf(n), Past: ref.When.Set || asOf != "",
		Kind: "view", View: &bind.View{UUID: v.UUID, SQL: v.SQL, Columns: v.ColumnNames(), SearchPath: viewPath(v), Dialect: dialectOfView(v.Representations)}}, nil
}

func viewPath(v *lake.View) []string {
	if v.DefaultNamespace == "" || v.Name.Catalog == temporaryCatalog {
		return nil
	}
	return []string{"pg_catalog", v.DefaultNamespace}
}

// state chooses the snapshot and schema that the statement, the name or the session asks for.
func (r relations) state(ctx context.Context, rel *bind.Relation, ref bind.TableRef, x suffix) error {
	t := rel.Table
	spec, err := r.spec(t, ref, x)
	if err != nil {
		return err
	}
	if ref.Write {
		if spec.Travels() {
			return sqlerr.New(sqlerr.FeatureNotSupported, "the past of table %q cannot be written", t.Name.Table).
				WithHint("Write to the table, or to a branch: %s.branch_name.", t.Name.Table)
		}
	}
	rel.Past = past(t, spec)
	if spec.History() {
		rel.Of, rel.Table = t, nil
		rel.Virtual, err = timetravel.RowHistory(t, spec, dataFiles{})
		return err
	}
	snap, schema, err := timetravel.Resolve(t, spec)
	if err != nil {
		return err
	}
	if x.meta != "" {
		rel.Of, rel.Meta, rel.Table, rel.Kind = t, x.meta, nil, "metadata table"
		rel.Virtual, err = timetravel.OpenMetadataTable(t, x.meta, snap, spec.Travels(), dataFiles{})
		return err
	}
	rel.Snapshot, rel.TableSchema, rel.Branch = snap, schema, spec.BranchName()
	return nil
}

// past tells whether another state is asked for than a branch's present one: a tag's, one by its number,
// one at an instant, or the way between some.
func past(t *lake.Table, s timetravel.Spec) bool {
	if s.Tag != "" || s.Snapshot != 0 || s.Version || !s.Time.IsZero() || s.Before || s.Range != timetravel.NoRange {
		return true
	}
	for _, name := range []string{s.Ref, s.Branch} {
		if name == "" || name == "main" {
			continue
		}
		if ref, ok := t.Ref(name); !ok || !ref.Branch {
			return true
		}
	}
	return false
}

// spec combines the clause, the name's suffix and the session's pins; the clause wins.
func (r relations) spec(t *lake.Table, ref bind.TableRef, x suffix) (timetravel.Spec, error) {
	w := ref.When
	spec := timetravel.Spec{Branch: x.branch}
	switch {
	case x.tag != "":
		spec.Tag = x.tag
	case x.at != "":
		if at, err := timetravel.ParsePin(x.at, r.s.zone()); err == nil {
			spec = at
		} else {
			return spec, err
		}
	}
	if w.Set && (!w.Pending || w.Spec.History()) { // a span with bounds to come has its columns now
		return clause(spec, w), nil
	}
	if w.Set || spec != (timetravel.Spec{}) || ref.Write {
		if spec.Branch == "" && spec.Tag == "" {
			spec.Branch = r.sessionBranch(t)
			if b, _ := r.s.settings.get("lhsql.branch"); ref.Write && spec.Branch == "" && b != "" {
				// Read at main it may be; what is meant for a candidate must not reach main.
				return spec, sqlerr.New(sqlerr.UndefinedObject, "table %s has no branch %q, which the session writes (lhsql.branch)", t.Name.Table, b).
					WithHint("ALTER TABLE %s CREATE BRANCH %s, or write to \"%s@main\".", t.Name.Table, b, t.Name.Table)
			}
		}
		return spec, nil
	}
	if v, _ := r.s.settings.get("lhsql.as_of"); v != "" {
		return timetravel.ParsePin(v, r.s.zone())
	}
	spec.Branch = r.sessionBranch(t)
	return spec, nil
}

// sessionBranch is lhsql.branch where the table has it; other tables are read at main.
func (r relations) sessionBranch(t *lake.Table) string {
	b, _ := r.s.settings.get("lhsql.branch")
	if ref, ok := t.Ref(b); ok && ref.Branch {
		return b
	}
	return ""
}

// clause is a statement's clause on the branch that the name says.
func clause(name timetravel.Spec, w bind.When) timetravel.Spec {
	spec := w.Spec
	if spec.Branch == "" {
		spec.Branch = name.Branch
	}
	return spec
}

// loadTable loads a table once per command cycle, and once per transaction block: its statements
// agree on what they read (PROMISES C7), and the block's view of the catalog sees to that.
func (s *Session) loadTable(ctx context.Context, n lake.Name) (*lake.Table, error) {
	c := s.catalogOf(n.Catalog)
	if c == nil {
		return nil, &lake.NotFound{What: "catalog", Name: n.Catalog}
	}
	if s.tx.block && n.Catalog != temporaryCatalog {
		return c.Load(ctx, n)
	}
	if t := s.loaded[n]; t != nil {
		return t, nil
	}
	t, err := c.Load(ctx, n)
	if err != nil {
		return nil, err
	}
	if s.loaded == nil {
		s.loaded = map[lake.Name]*lake.Table{}
	}
	s.loaded[n] = t
	return t, nil
}

// FromPath implements bind.Catalog: iceberg('path') in FROM.
func (r relations) FromPath(ctx context.Context, path string, when bind.When, depth int) (*bind.Relation, error) {
	if depth == 0 { // of a view the owner is asked, once the statement is bound
		if err := r.s.reaches(ctx, guard.ReadServerFiles, "read tables by their path"); err != nil {
			return nil, err
		}
	}
	if len(r.s.engine.cfg.PathTables) == 0 {
		return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "tables by path are not allowed on this server").
			WithHint("The server's option path_tables names the folders that may be read.")
	}
	t, err := lake.OpenPathIn(ctx, r.s.engine.store, path, r.s.engine.cfg.PathTables)
	if err != nil {
		return nil, err
	}
	rel := &bind.Relation{Name: t.Name.Table, Table: t}
	return rel, r.state(ctx, rel, bind.TableRef{When: when}, suffix{})
}
