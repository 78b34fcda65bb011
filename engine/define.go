package engine

import (
	"context"
	"errors"
	"sort"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// define runs DDL. In a transaction block it waits for COMMIT like rows do.
func (s *Session) define(ctx context.Context, st *Stmt, args []types.Datum, r *Result) error {
	if err := s.mayWrite(writeName(st.parsed.Stmt)); err != nil {
		return err
	}
	switch n := st.parsed.Stmt.(type) {
	case *ast.CreateSchema:
		r.verb = "CREATE SCHEMA"
		return s.createSchema(ctx, n, r)
	case *ast.CreateTable:
		return s.createTable(ctx, n, st.bound, args, r)
	case *ast.CreateView:
		r.verb = "CREATE VIEW"
		return s.createView(ctx, n, st.bound, r)
	case *ast.Drop:
		return s.drop(ctx, n, r)
	case *ast.AlterTable:
		r.verb = "ALTER TABLE"
		if n.View {
			r.verb = "ALTER VIEW"
		}
		if n.Verb != "" {
			r.verb = n.Verb
		}
		return s.alter(ctx, n, st.bound, r)
	case *ast.Comment:
		r.verb = "COMMENT"
		return s.comment(ctx, n, st.bound)
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "this statement is not supported")
}

// nameFor splits the name of what is to be made, which may be temporary.
func (s *Session) nameFor(ctx context.Context, parts []string, temp bool) (lake.Name, error) {
	if temp {
		if err := s.creates(ctx, temporaryCatalog, ""); err != nil {
			return lake.Name{}, err
		}
		return s.temporaryName(parts)
	}
	return s.names().made(ctx, parts)
}

func (s *Session) namespaceExists(ctx context.Context, catalog, name string) bool {
	list, err := s.catalogOf(catalog).Namespaces(ctx)
	if err != nil {
		return false
	}
	for _, n := range list {
		if n == name {
			return true
		}
	}
	return false
}

// missing turns a catalog's word for what is missing or there already into PostgreSQL's.
func definitionError(err error) error {
	var nf *lake.NotFound
	var ex *lake.Exists
	var ne *lake.NotEmpty
	switch {
	case lake.Outcome(err) == lake.Unknown: // whatever is beneath
		return err
	case errors.As(err, &nf):
		if nf.What == "schema" {
			return sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", nf.Name)
		}
		return sqlerr.New(sqlerr.UndefinedTable, "%s %q does not exist", nf.What, nf.Name)
	case errors.As(err, &ex):
		if ex.What == "schema" {
			return sqlerr.New(sqlerr.DuplicateSchema, "schema %q already exists", ex.Name)
		}
		return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", ex.Name[strings.LastIndexByte(ex.Name, '.')+1:])
	case errors.As(err, &ne):
		return sqlerr.New(sqlerr.DependentObjectsExist, "cannot drop schema %q because other objects depend on it", ne.Namespace).
			WithHint("Drop its tables and views first.")
	}
	return err
}

func (s *Session) createSchema(ctx context.Context, n *ast.CreateSchema, r *Result) error {
	catalog, name := s.names().schema(ctx, n.Name.Parts)
	if err := s.createsSchema(ctx, catalog); err != nil {
		return err
	}
	if n.Owner != nil {
		if err := s.mayGiveTo(ctx, *n.Owner); err != nil {
			return err
		}
	}
	err := s.catalogOf(catalog).CreateNamespace(ctx, name, nil)
	s.host = nil
	if n.IfNotExists && isExists(err) {
		r.warn("42P06", "schema %q already exists, skipping", name)
		return nil
	}
	if err != nil {
		return definitionError(err)
	}
	return s.madeSchema(ctx, n, catalog, name, r)
}

// createIndex takes CREATE INDEX of a table that is there, as tools send it after they have loaded one,
// and says what makes reading fast here; lhsql.create_index = error refuses it.
func (s *Session) createIndex(ctx context.Context, n *ast.CreateIndex, r *Result) error {
	if err := s.mayWrite("CREATE INDEX"); err != nil {
		return err
	}
	rel, err := relations{s}.Relation(ctx, bind.TableRef{Parts: n.Table.Parts})
	if isNotFound(err) || err == nil && rel.Table == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", strings.Join(n.Table.Parts, ".")).At(n.Table.Pos)
	}
	if err != nil {
		return err
	}
	if err := s.allowed(ctx, func(p *permission) error { return p.owns(rel) }); err != nil || n.Quiet {
		return err
	}
	return s.noIndex(n.Pos, r)
}

// noIndex says that an index which was asked for is not made, or refuses it.
func (s *Session) noIndex(pos int, r *Result) error {
	const what = "tables are pruned by partitions, sort order and statistics (ALTER TABLE … ADD PARTITION FIELD, WRITE ORDERED BY)"
	if v, _ := s.settings.get("lhsql.create_index"); v == "error" {
		return sqlerr.New(sqlerr.FeatureNotSupported, "indexes are not supported: %s", what).At(pos)
	}
	r.warn("00000", "no index was made: %s", what)
	return nil
}

// createTable runs CREATE TABLE [AS] and CREATE OR REPLACE TABLE.
func (s *Session) createTable(ctx context.Context, n *ast.CreateTable, b *bind.Bound, args []types.Datum, r *Result) error {
	r.verb = "CREATE TABLE"
	temp := s.makesTemporary(n.Temp, n.Name.Parts, nil)
	name, err := s.nameFor(ctx, n.Name.Parts, temp)
	if err != nil {
		return err
	}
	cat := s.catalogOf(name.Catalog)
	if n.Replace {
		if err := s.replaces(ctx, name); err != nil {
			return err
		}
	}
	if n.IfNotExists {
		if _, err := cat.Load(ctx, name); err == nil {
			return skipExisting(name, r)
		}
	}
	spec, err := s.tableSpec(ctx, name, n, b, r)
	if err != nil {
		return err
	}
	if n.Indexed {
		if err := s.noIndex(n.Pos, r); err != nil {
			return err
		}
	}
	if n.OnCommit != "" {
		if !temp {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "ON COMMIT can only be used on temporary tables").At(n.Pos)
		}
		spec.Properties[onCommit] = n.OnCommit
		s.tempOnCommit = true
	}
	if len(b.Create.Foreign) > 0 {
		existed := false
		err := s.atomically(ctx, r, func() error {
			_, err := s.catalogOf(name.Catalog).Create(ctx, name, spec)
			if n.IfNotExists && isExists(err) {
				existed = true
				return nil
			}
			if err != nil {
				return definitionError(err)
			}
			return s.addForeignKeys(ctx, name, b.Create.Foreign, r)
		})
		if existed {
			return skipExisting(name, r)
		}
		s.moved(name, nil)
		return err
	}
	if !b.Create.As {
		t, err := cat.Create(ctx, name, spec)
		if n.IfNotExists && isExists(err) { // since it was looked for
			return skipExisting(name, r)
		}
		if err != nil {
			return definitionError(err)
		}
		s.moved(name, t)
		return s.madeTable(ctx, t, name, r)
	}
	staged, err := cat.Stage(ctx, name, spec)
	if n.IfNotExists && isExists(err) {
		return skipExisting(name, r)
	}
	if err != nil {
		return definitionError(err)
	}
	if was := s.loaded[name]; !s.tx.block && was != nil && was.MetadataLocation != staged.MetadataLocation {
		// The query reads the table as it was before another writer's commit, which would be lost.
		return sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update: another transaction changed table %s", name.Table).
			WithHint("Nothing was written. The statement may be run again.")
	}
	r.verb, r.counted = "SELECT", true
	source := b.Plan
	if n.WithNoData {
		source = &plan.Values{Cols: source.Columns()}
	}
	return s.insertStaged(ctx, staged, b, source, args, r)
}

func isExists(err error) bool {
	var e *lake.Exists
	return errors.As(err, &e)
}

func skipExisting(name lake.Name, r *Result) error {
	r.warn("42P07", "relation %q already exists, skipping", name.Table)
	return nil
}

// tableSpec gathers what CREATE TABLE says of the table.
func (s *Session) tableSpec(ctx context.Context, name lake.Name, n *ast.CreateTable, b *bind.Bound, r *Result) (lake.TableSpec, error) {
	c := b.Create
	spec := lake.TableSpec{Schema: &lake.Schema{}, Identifier: c.Identifier, Keys: c.Keys, Properties: map[string]string{}, Location: n.Location, Replace: n.Replace}
	if c.Like != nil && c.Like.Table != nil {
		for _, f := range c.Like.Table.Schema().Fields {
			if n := f.Numbering; n != nil && n.Kind == "auto_increment" {
				f.Numbering = &lake.Numbering{Kind: n.Kind, Next: 1, Increment: n.Increment}
			} else {
				f.Numbering = nil // as LIKE without INCLUDING IDENTITY
			}
			spec.Schema.Fields = append(spec.Schema.Fields, f)
		}
	}
	for _, col := range c.Columns {
		f, err := lake.FieldOf(col.Name, col.Type, col.NotNull)
		if err != nil {
			return spec, err
		}
		if i := len(spec.Schema.Fields); c.As && b.Plan != nil && i < len(b.Plan.Columns()) {
			f = exactField(f, b.Plan, b.Plan.Columns()[i].ID)
		}
		noteDefaultDecimal(r, f)
		f.Doc, f.WriteDefault = col.Comment, col.Default
		f.DefaultSQL, f.OnUpdateSQL, f.Numbering = col.DefaultSQL, col.OnUpdateSQL, col.Numbering
		spec.Schema.Fields = append(spec.Schema.Fields, f)
	}
	spec.Checks = c.Checks
	if c.Like != nil && c.Like.Table != nil && s.dialect.bind.HoldMode != nil {
		spec.Checks = append(spec.Checks, likeChecks(c.Like.Table)...)
		likeKeys(&spec, c.Like.Table)
	}
	for _, k := range spec.Keys {
		noteDeferred(r, k.Name, k.Deferred)
	}
	for k, v := range c.Props {
		text := ""
		if !v.Value.IsNull() {
			text = types.Format(v.Value, v.Typ, s.TextOptions())
		}
		switch k {
		case "format_version", "format-version":
			spec.Properties["format-version"] = text
		case "location":
			spec.Location = text
		case "comment":
			spec.Properties["comment"] = text
		default:
			spec.Properties[k] = text
		}
	}
	if spec.Properties["format-version"] == "" {
		v, _ := s.settings.get("lhsql.default_format_version")
		spec.Properties["format-version"] = s.keptFormat(ctx, name, n.Replace, v)
	}
	if n.Comment != nil {
		spec.Properties["comment"] = *n.Comment
	}
	for _, e := range n.PartitionBy {
		by, err := partitionBy(e)
		if err != nil {
			return spec, err
		}
		spec.PartitionBy = append(spec.PartitionBy, by)
	}
	var err error
	spec.SortBy, err = sortBy(n.SortedBy)
	return spec, err
}

// keptFormat is the format version where the statement names none: the default, but a table
// that is replaced keeps a higher one, since a table's format is never lowered.
func (s *Session) keptFormat(ctx context.Context, name lake.Name, replace bool, def string) string {
	if !replace {
		return def
	}
	old, err := s.catalogOf(name.Catalog).Load(ctx, name)
	if err != nil {
		return def
	}
	if v := strconv.Itoa(old.FormatVersion()); v > def {
		return v
	}
	return def
}

// partitionBy reads a transform: column, or function(column) in the spellings of Spark and
// Trino: bucket(16, id), bucket(id, 16), months(ts), month(ts).
func partitionBy(e ast.Expr) (lake.PartitionBy, error) {
	col, tr, err := transformOf(e)
	return lake.PartitionBy{Column: col, Transform: tr}, err
}

func transformOf(e ast.Expr) (string, lake.Transform, error) {
	bad := func() error {
		return sqlerr.New(sqlerr.SyntaxError, "a partition field is a column or one of year, month, day, hour, bucket(n, column), truncate(n, column)").At(e.Position())
	}
	switch x := e.(type) {
	case *ast.Ident:
		return strings.Join(x.Parts, "."), lake.Transform{Kind: lake.Identity, Text: "identity"}, nil
	case *ast.Call:
		var col string
		width := ""
		for _, a := range x.Args {
			switch v := a.Expr.(type) {
			case *ast.Ident:
				col = strings.Join(v.Parts, ".")
			case *ast.Lit:
				if v.Kind == 's' {
					col = v.Text
				} else {
					width = v.Text
				}
			}
		}
		if col == "" {
			return "", lake.Transform{}, bad()
		}
		name := strings.TrimSuffix(strings.ToLower(x.Name.Parts[len(x.Name.Parts)-1]), "s")
		switch name {
		case "year", "month", "day", "hour", "void", "identity":
			return col, lake.ParseTransform(name), nil
		case "date":
			return col, lake.ParseTransform("day"), nil
		case "bucket", "truncate":
			if width == "" {
				return "", lake.Transform{}, bad()
			}
			return col, lake.ParseTransform(name + "[" + width + "]"), nil
		}
	}
	return "", lake.Transform{}, bad()
}

func sortBy(order []ast.Order) ([]lake.SortBy, error) {
	var out []lake.SortBy
	for _, o := range order {
		col, tr, err := transformOf(o.Expr)
		if err != nil {
			return nil, err
		}
		// Iceberg's writers put NULLs first in ascending order; what is written wins.
		first := !o.Desc
		if o.NullsFirst != nil {
			first = *o.NullsFirst
		}
		out = append(out, lake.SortBy{Column: col, Transform: tr, Desc: o.Desc, NullsFirst: first})
	}
	return out, nil
}

// insertStaged writes the rows of CREATE TABLE AS and creates the table with them.
func (s *Session) insertStaged(ctx context.Context, staged *lake.Table, b *bind.Bound, source plan.Node, args []types.Datum, r *Result) error {
	schema := staged.Schema()
	in := &plan.Insert{Target: plan.WriteTarget{Table: staged, Schema: schema, Checks: b.Create.Bound}, Source: source, Given: make([]bool, len(schema.Fields))}
	id := plan.MaxColID(source)
	p := &plan.Project{Input: source}
	for i, c := range source.Columns() {
		id++
		f := &schema.Fields[i]
		out := plan.Column{ID: id, Name: f.Name, Type: f.Type}
		var x plan.Expr = &plan.Cast{X: plan.ColOf(c), Typ: f.Type, Context: plan.Assignment, Pos: -1}
		if f.Type.MySQL != nil && c.Type.MySQL == nil {
			x = &plan.Call{Func: eval.Holder(f.Name, c.Type, f.Type, b.Create.Hold), Args: []plan.Expr{plan.ColOf(c)}, Typ: f.Type, Pos: -1}
		}
		p.Exprs = append(p.Exprs, plan.Named{Col: out, Expr: x})
	}
	in.Source = p
	return s.runWriteWith(ctx, b, in, args, r, func(ctx context.Context, ch lake.Change) error {
		ch.Statement, ch.User = "CREATE TABLE AS", s.opts.User
		t, err := s.catalogOf(staged.Name.Catalog).CommitStaged(ctx, staged, ch)
		if err != nil {
			return definitionError(err)
		}
		s.moved(staged.Name, t)
		return s.madeTable(ctx, t, staged.Name, nil)
	})
}

func (s *Session) createView(ctx context.Context, n *ast.CreateView, b *bind.Bound, r *Result) error {
	temp := s.makesTemporary(n.Temp, n.Name.Parts, b)
	if temp && !s.makesTemporary(n.Temp, n.Name.Parts, nil) {
		r.warn("00000", "view %q will be a temporary view", n.Name.Parts[len(n.Name.Parts)-1])
	}
	name, err := s.nameFor(ctx, n.Name.Parts, temp)
	if err != nil {
		return err
	}
	schema := &lake.Schema{}
	for _, c := range b.ViewColumns {
		f, err := lake.FieldOf(c.Name, viewType(c.Type), false)
		if err != nil {
			return err
		}
		schema.Fields = append(schema.Fields, f)
	}
	spec := lake.ViewSpec{Schema: schema, DefaultCatalog: name.Catalog}
	s.names().view(ctx, &spec, b.ViewSQL)
	if n.Replace && s.dialect.bind.ViewsKeepColumns {
		if err := s.keepsColumns(ctx, name, b); err != nil {
			return err
		}
	}
	if n.Replace {
		if err := s.replaces(ctx, name); err != nil {
			return err
		}
	}
	v, err := s.catalogOf(name.Catalog).CreateView(ctx, name, spec, n.Replace)
	s.moved(name, nil)
	if err != nil {
		return definitionError(err)
	}
	return s.madeView(ctx, v, name, n.Invoker, r)
}

// viewType is the type that a view's metadata carries for other engines; ours binds the query
// anew each time.
func viewType(t types.Type) types.Type {
	switch {
	case t.Kind == types.Numeric && !t.Fixed:
		return types.DecimalType(38, 10)
	case t.Kind == types.Interval, t.Kind == types.TimeTZ:
		return types.T(types.Text)
	}
	return t
}

func (s *Session) drop(ctx context.Context, n *ast.Drop, r *Result) error {
	r.verb = "DROP " + strings.ToUpper(n.Kind)
	if len(n.Names) > 1 || n.Kind == "schema" && n.Cascade || n.Kind == "table" && s.referencing(ctx, n) {
		return s.atomically(ctx, r, func() error { return s.dropEach(ctx, n, r) })
	}
	return s.dropEach(ctx, n, r)
}

func (s *Session) dropEach(ctx context.Context, n *ast.Drop, r *Result) error {
	for _, name := range n.Names {
		err := definitionError(s.dropOne(ctx, n, name, r))
		e, ok := sqlerr.As(err)
		if ok && n.IfExists && (e.Code == sqlerr.UndefinedTable || e.Code == sqlerr.InvalidSchemaName) {
			r.warn("00000", "%s, skipping", e.Message)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// referencing tells whether one of the tables that are dropped has a foreign key, or is in another's.
func (s *Session) referencing(ctx context.Context, n *ast.Drop) bool {
	for _, name := range n.Names {
		rel, err := relations{s}.Relation(ctx, bind.TableRef{Parts: name.Parts})
		if err == nil && rel.Table != nil && len(rel.Table.ForeignKeys())+len(rel.Table.References()) > 0 {
			return true
		}
	}
	return false
}

func (s *Session) dropOne(ctx context.Context, n *ast.Drop, name ast.Name, r *Result) error {
	if n.Kind == "schema" {
		catalog, ns := s.names().schema(ctx, name.Parts)
		if err := s.drops(ctx, catalog, ns, nil); err != nil && s.namespaceExists(ctx, catalog, ns) {
			return err
		}
		if n.Cascade {
			if err := s.dropContents(ctx, catalog, ns, n.Purge); err != nil {
				return err
			}
		}
		s.host = nil
		if err := s.catalogOf(catalog).DropNamespace(ctx, ns); err != nil {
			return err
		}
		return s.forgetPrivileges(ctx, schemaName(catalog, ns))
	}
	if n.Kind != "table" && n.Kind != "view" {
		return sqlerr.New(sqlerr.FeatureNotSupported, "DROP %s is not supported", strings.ToUpper(n.Kind)).At(n.Pos)
	}
	rel, err := relations{s}.Relation(ctx, bind.TableRef{Parts: name.Parts})
	if isNotFound(err) {
		return sqlerr.New(sqlerr.UndefinedTable, "%s %q does not exist", n.Kind, strings.Join(name.Parts, ".")).WithNumber(1051)
	}
	if err != nil {
		return s.dropUnreadable(ctx, n, name.Parts, err)
	}
	if n.Temp && rel.Catalog != temporaryCatalog {
		return sqlerr.New(sqlerr.UndefinedTable, "%s %q does not exist", n.Kind, strings.Join(name.Parts, ".")).WithHint("It is no temporary one.").WithNumber(1051)
	}
	id := lake.Name{Catalog: rel.Catalog, Namespace: rel.Schema, Table: rel.Name}
	cat := s.catalogOf(rel.Catalog)
	if err := s.drops(ctx, rel.Catalog, rel.Schema, rel); err != nil {
		return err
	}
	defer s.moved(id, nil)
	switch {
	case n.Kind == "table" && rel.Table != nil:
		if n.Purge {
			if err := s.elsewhere(ctx, rel.Table); err != nil {
				return err
			}
		}
		if err := s.unreferenced(ctx, rel.Table, n.Cascade, n.Names, r); err != nil {
			return err
		}
		if err := s.forgetReferences(ctx, rel.Table); err != nil {
			return err
		}
		if err := cat.Drop(ctx, id, n.Purge); err != nil {
			return err
		}
		return s.forgetPrivileges(ctx, tableName(id))
	case n.Kind == "view" && rel.View != nil:
		if err := cat.DropView(ctx, id); err != nil {
			return err
		}
		return s.forgetPrivileges(ctx, tableName(id))
	}
	return sqlerr.New(sqlerr.WrongObjectType, "%q is not a %s", rel.Name, n.Kind).At(name.Pos)
}

// elsewhere refuses to remove what another catalog of this server has too; one that cannot be asked may.
func (s *Session) elsewhere(ctx context.Context, t *lake.Table) error {
	for _, name := range s.engine.order {
		if name == t.Name.Catalog || t.Name.Catalog == temporaryCatalog {
			continue
		}
		if err := lake.Elsewhere(ctx, s.catalogOf(name), t); err != nil {
			return err
		}
	}
	return nil
}

// dropUnreadable drops a table whose metadata was lost or is broken: to take it out of its catalog
// needs none of its files. Only by its whole name: err is why a shorter one leads nowhere.
func (s *Session) dropUnreadable(ctx context.Context, n *ast.Drop, parts []string, err error) error {
	e, ok := sqlerr.As(err)
	if !ok || e.Code != sqlerr.IOError && e.Code != sqlerr.DataCorrupted || n.Kind != "table" || n.Purge || len(parts) < 2 {
		return err
	}
	id := lake.Name{Table: parts[len(parts)-1]}
	id.Catalog, id.Namespace = s.names().schema(ctx, parts[:len(parts)-1])
	cat := s.catalogOf(id.Catalog)
	if cat == nil {
		return err
	}
	// Whose it was cannot be told by its UUID, which its metadata holds.
	if err := s.drops(ctx, id.Catalog, id.Namespace, &bind.Relation{Catalog: id.Catalog, Schema: id.Namespace, Name: id.Table}); err != nil {
		return err
	}
	defer s.moved(id, nil)
	return cat.Drop(ctx, id, false)
}

func (s *Session) dropContents(ctx context.Context, catalog, ns string, purge bool) error {
	cat := s.catalogOf(catalog)
	tables, err := cat.List(ctx, ns)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if purge {
			table, err := cat.Load(ctx, t)
			if err == nil {
				err = s.elsewhere(ctx, table)
			}
			if err != nil {
				return err
			}
		}
		if err := cat.Drop(ctx, t, purge); err != nil {
			return err
		}
		s.moved(t, nil)
	}
	views, err := cat.Views(ctx, ns)
	if err != nil {
		return err
	}
	for _, v := range views {
		if err := cat.DropView(ctx, v); err != nil {
			return err
		}
		s.moved(v, nil)
	}
	return nil
}

func (s *Session) comment(ctx context.Context, n *ast.Comment, b *bind.Bound) error {
	text := ""
	if n.Text != nil {
		text = *n.Text
	}
	switch n.Kind {
	case "schema":
		s.host = nil
		return definitionError(s.catalogOf(s.catalog).SetNamespaceProperties(ctx, strings.Join(n.Name.Parts, "."), map[string]string{"comment": text}, nil))
	case "table", "column", "view":
		if b.Target != nil && b.Target.View != nil && n.Kind != "table" {
			return s.commentView(ctx, n, b.Target, text)
		}
		if b.Target != nil && n.Kind == "view" {
			return sqlerr.New(sqlerr.WrongObjectType, "%q is not a view", b.Target.Name).At(n.Name.Pos)
		}
		if b.Target == nil || b.Target.Table == nil {
			return sqlerr.New(sqlerr.WrongObjectType, "%q is not a table", n.Name.Parts[len(n.Name.Parts)-1]).At(n.Name.Pos)
		}
		return s.edit(ctx, b.Target.Table, "COMMENT", func(e *lake.Edit) error {
			if n.Kind == "column" {
				return e.SetDoc(n.Name.Parts[len(n.Name.Parts)-1:], text)
			}
			if n.Text == nil {
				return e.RemoveProperties([]string{"comment"})
			}
			return e.SetProperties(map[string]string{"comment": text})
		})
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "COMMENT ON %s is not supported", strings.ToUpper(n.Kind)).At(n.Pos)
}

// edit commits a change of metadata, or keeps it until COMMIT in a transaction block.
func (s *Session) edit(ctx context.Context, t *lake.Table, what string, f func(*lake.Edit) error) error {
	return s.commit(ctx, t.Name, lake.Change{Base: t, Edit: f, Statement: what})
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
