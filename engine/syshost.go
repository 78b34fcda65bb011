package engine

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/lhsql/lhsql/engine/syscat"
	"github.com/lhsql/lhsql/guard"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// sysHost is what the system catalogs describe: one database as this session sees it, during
// one command cycle.
func (s *Session) sysHost(_ context.Context, catalog string) syscat.Host {
	if s.host == nil || s.host.catalog != catalog {
		s.host = &host{s: s, catalog: catalog, entries: map[string][]syscat.Entry{}, relations: map[lake.Name]*syscat.Relation{}}
	}
	return s.host
}

// host implements syscat.Host. It keeps what it has looked up until the command cycle ends, so
// that one statement sees one state and a join over catalogs lists the names once.
type host struct {
	s          *Session
	catalog    string
	namespaces []string
	entries    map[string][]syscat.Entry
	relations  map[lake.Name]*syscat.Relation
	names      syscat.Names
	recalled   bool // whether what the engine keeps has been asked for
	lock       *syscat.Lock
	version    string // the catalog's, before anything was listed; "" unknown
}

func (h *host) Database() string    { return h.catalog }
func (h *host) Databases() []string { return h.s.engine.order }
func (h *host) User() string        { return h.s.opts.User }
func (h *host) Started() time.Time  { return h.s.engine.started }
func (h *host) TempBytes() int64    { return h.s.engine.account.SpilledBytes() }

// Users are those of the sessions that are connected: the server's own list of users belongs to
// the wire and holds verifiers.
func (h *host) Users() []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range h.s.engine.activeSessions() {
		if !seen[s.opts.User] {
			seen[s.opts.User] = true
			out = append(out, s.opts.User)
		}
	}
	sort.Strings(out)
	return out
}

// Lock implements syscat.Host.
func (h *host) Lock(ctx context.Context) (*syscat.Lock, error) {
	if h.s.engine.guard == nil {
		return nil, nil
	}
	if h.lock == nil {
		p, err := h.s.permission(ctx)
		if err != nil {
			return nil, err
		}
		if p.st == nil { // the keeper's
			st, err := h.s.engine.guard.Now(ctx)
			if err != nil {
				return nil, err
			}
			p.st, p.role = st, guard.Bootstrap
		}
		h.lock = &syscat.Lock{State: p.st, Role: p.role, Name: p.name, Super: p.super, Database: h.catalog}
	}
	return h.lock, nil
}

// Namespaces implements syscat.Host.
func (h *host) Namespaces(ctx context.Context) ([]string, error) {
	h.recall(ctx)
	if h.namespaces == nil {
		list, err := h.s.catalogOf(h.catalog).Namespaces(ctx)
		if err != nil {
			return nil, err
		}
		h.namespaces = append([]string{}, list...)
		h.update(func(k *listing) { k.namespaces = slices.Clone(h.namespaces) })
		if h.s.temp != nil && h.catalog == h.s.catalog {
			h.namespaces = append(h.namespaces, h.s.temporarySchema())
		}
	}
	return h.namespaces, nil
}

// Entries implements syscat.Host.
func (h *host) Entries(ctx context.Context, namespace string) ([]syscat.Entry, error) {
	h.recall(ctx)
	if e, ok := h.entries[namespace]; ok {
		return e, nil
	}
	cat := h.s.catalogOf(h.s.located(h.catalog, namespace, "").Catalog)
	tables, err := cat.List(ctx, namespace)
	if err != nil && !isNotFound(err) {
		return nil, err
	}
	views, err := cat.Views(ctx, namespace)
	if err != nil && !isNotFound(err) {
		return nil, err
	}
	out := make([]syscat.Entry, 0, len(tables)+len(views))
	for _, n := range tables {
		out = append(out, syscat.Entry{Name: n.Table})
	}
	for _, n := range views {
		out = append(out, syscat.Entry{Name: n.Table, View: true})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	h.entries[namespace] = out
	if !h.hasTemporary() || namespace != h.s.temporarySchema() {
		h.update(func(k *listing) {
			if k.listed += len(out); k.listed <= listingLimit {
				k.entries[namespace] = out
			}
		})
	}
	return out, nil
}

// Relation implements syscat.Host.
func (h *host) Relation(ctx context.Context, namespace, name string) (*syscat.Relation, error) {
	n := h.s.located(h.catalog, namespace, name)
	if r := h.relations[n]; r != nil {
		return r, nil
	}
	if r := h.described(n); r != nil {
		h.relations[n] = r
		return r, nil
	}
	t, err := h.s.loadTable(ctx, n)
	var r *syscat.Relation
	switch {
	case err == nil:
		if r = h.s.describe(ctx, t); len(r.Foreign) == 0 {
			h.keep(n, r) // names of other tables may change without this one
		}
	case isNotFound(err):
		if r, err = h.describeView(ctx, n); err != nil {
			return nil, err
		}
	default:
		return nil, err
	}
	h.relations[n] = r
	return r, nil
}

func (h *host) KeepDefinition(oid uint32, text string) { h.s.constraintDefs.Store(oid, text) }

// keptKey is a key that a catalog's row was made for.
type keptKey struct{ schema, table, name string }

func (h *host) KeepKey(oid uint32, schema, table, name string) {
	h.s.engine.keys.Store(oid, keptKey{schema, table, name})
}

func (h *host) KeptKey(oid uint32) (schema, table string, ok bool) {
	k, ok := h.s.engine.keys.Load(oid)
	if !ok {
		return "", "", false
	}
	return k.(keptKey).schema, k.(keptKey).table, true
}

func (h *host) KeptKeyName(oid uint32) string {
	if k, ok := h.s.engine.keys.Load(oid); ok {
		return k.(keptKey).name
	}
	return ""
}

// describe is describeTable with the foreign keys, whose other tables are looked up.
func (s *Session) describe(ctx context.Context, t *lake.Table) *syscat.Relation {
	r := describeTable(t)
	place := func(t *lake.Table, id int) int {
		return slices.IndexFunc(t.Schema().Fields, func(f lake.Field) bool { return f.ID == id })
	}
	for _, k := range t.ForeignKeys() {
		parent, err := s.referenced(ctx, t, k)
		if err != nil || parent == nil {
			continue
		}
		d := syscat.Foreign{Name: k.Name, Schema: parent.Name.Namespace, Table: parent.Name.Table, OnDelete: k.OnDelete, OnUpdate: k.OnUpdate,
			MatchFull: k.MatchFull, NotEnforced: k.NotEnforced, NotValid: k.NotValid, Deferrable: k.Deferrable, Deferred: k.Deferred}
		for i, id := range k.Columns {
			if c, p := place(t, id), place(parent, k.References[i]); c >= 0 && p >= 0 {
				d.Columns = append(d.Columns, c)
				d.References = append(d.References, parent.Schema().Fields[p].Name)
			}
		}
		for _, u := range parent.Keys() {
			if len(u.Columns) == len(k.References) && !slices.ContainsFunc(k.References, func(id int) bool { return !slices.Contains(u.Columns, id) }) && d.Unique == "" {
				d.Unique = u.Name
			}
		}
		if len(d.Columns) == len(k.Columns) {
			r.Foreign = append(r.Foreign, d)
		}
	}
	return r
}

// describeKeys gives a table's keys, and identifier fields as one where no primary key is declared.
func describeKeys(t *lake.Table) (out []syscat.Key) {
	schema := t.Schema()
	place := func(id int) int {
		return slices.IndexFunc(schema.Fields, func(f lake.Field) bool { return f.ID == id })
	}
	keys := t.Keys()
	if len(keys) == 0 || !keys[0].Primary {
		k := syscat.Key{Name: t.Name.Table + "_pkey", Primary: true, NotEnforced: true, Identifier: true}
		for i := range schema.Fields {
			if slices.Contains(schema.Identifier, schema.Fields[i].ID) {
				k.Columns = append(k.Columns, i)
			}
		}
		if len(k.Columns) > 0 {
			out = append(out, k)
		}
	}
	for _, k := range keys {
		d := syscat.Key{Name: k.Name, Primary: k.Primary, NullsNotDistinct: k.NullsNotDistinct, NotEnforced: k.NotEnforced, Deferrable: k.Deferrable, Deferred: k.Deferred, Prefixes: k.Prefixes}
		for _, id := range k.Columns {
			if i := place(id); i >= 0 {
				d.Columns = append(d.Columns, i)
			}
		}
		if len(d.Columns) == len(k.Columns) {
			out = append(out, d)
		}
	}
	return out
}

// describeChecks gives a table's CHECK constraints with the columns' names of now.
func describeChecks(t *lake.Table) (out []syscat.Check) {
	fields := t.Schema().Fields
	for _, c := range t.Checks() {
		d := syscat.Check{Name: c.Name, NotEnforced: c.NotEnforced, NotValid: c.NotValid, MySQL: strings.HasPrefix(c.SQL, "mysql:")}
		text, ok := c.Expand(func(id int) (string, bool) {
			if i := slices.IndexFunc(fields, func(f lake.Field) bool { return f.ID == id }); i >= 0 && !slices.Contains(d.Columns, i+1) {
				d.Columns = append(d.Columns, i+1)
			}
			return columnName(fields, id, d.MySQL)
		})
		if d.SQL = strings.TrimPrefix(text, "mysql:"); ok {
			out = append(out, d)
		}
	}
	return out
}

// generatedText is an expression over a table's columns, with the columns' names of now.
func generatedText(fields []lake.Field, g *lake.Generated) (sql string, mysql bool) {
	_, mysql = strings.CutPrefix(g.SQL, "mysql:")
	text, ok := g.Expand(func(id int) (string, bool) { return columnName(fields, id, mysql) })
	if !ok {
		return "", mysql
	}
	return strings.TrimPrefix(text, "mysql:"), mysql
}

// columnName is the name of the column with the id as a dialect quotes it.
func columnName(fields []lake.Field, id int, mysql bool) (string, bool) {
	for i := range fields {
		if fields[i].ID == id {
			if mysql {
				return quote(fields[i].Name), true
			}
			return syscat.Quote(fields[i].Name), true
		}
	}
	return "", false
}

func describeTable(t *lake.Table) *syscat.Relation {
	schema := t.Schema()
	r := &syscat.Relation{Entry: syscat.Entry{Name: t.Name.Table}, Comment: t.Properties()["comment"],
		Partition: partitionText(t), Rows: -1, Checks: describeChecks(t)}
	for i := range schema.Fields {
		f := &schema.Fields[i]
		c := syscat.Column{Name: f.Name, Type: f.Type, NotNull: f.Required, Comment: f.Doc}
		switch {
		case f.WriteDefault != nil:
			c.Default = types.SQLLiteral(*f.WriteDefault, f.Type)
		case f.DefaultSQL != "":
			c.Default, c.MySQLDefault = strings.CutPrefix(f.DefaultSQL, "mysql:")
			c.Expression = c.MySQLDefault || !types.IsSQLLiteral(c.Default)
		}
		if f.RowDefault != nil {
			c.Default, c.MySQLDefault = generatedText(schema.Fields, f.RowDefault)
			c.Expression = true
		}
		if f.Generated != nil {
			c.Generated, c.MySQLDefault = generatedText(schema.Fields, f.Generated)
			c.Generated = "(" + c.Generated + ")"
			c.Virtual = f.Generated.Virtual
		}
		c.OnUpdate = strings.TrimPrefix(f.OnUpdateSQL, "mysql:")
		if f.Numbering != nil {
			c.Identity, c.IdentityNext, c.IdentityStep = f.Numbering.Kind, f.Numbering.Next, f.Numbering.Increment
		}
		r.Columns = append(r.Columns, c)
	}
	r.Keys, r.Referenced = describeKeys(t), len(t.References()) > 0
	if s := t.CurrentSnapshot(); s != nil {
		r.Updated = s.Time
		if n, err := strconv.ParseInt(s.Summary["total-records"], 10, 64); err == nil {
			r.Rows = n
		}
		if n, err := strconv.ParseInt(s.Summary["total-files-size"], 10, 64); err == nil {
			r.Bytes = n
		}
	} else {
		r.Rows = 0
	}
	for k, v := range t.Properties() {
		// What columns and constraints were declared as, other catalogs say.
		if k != "comment" && !strings.HasPrefix(k, "lhsql.column.") && !lake.ConstraintProperty(k) {
			r.Options = append(r.Options, k+"="+v)
		}
	}
	r.Options = append(r.Options, "format-version="+strconv.Itoa(t.FormatVersion()))
	sort.Strings(r.Options)
	// relkind stays r: a partitioned table of PostgreSQL's (p) owns other tables, and clients that
	// ask for TABLE alone do not list it. psql's \d+ prints the options, so the layout shows there.
	var first []string
	if r.Partition != "" {
		first = append(first, "partitioned_by=("+r.Partition+")")
	}
	if order := sortText(t); order != "" {
		first = append(first, "sort_order="+order)
	}
	if ids := identityText(r); ids != "" {
		first = append(first, "identity=("+ids+")")
	}
	if s := t.CurrentSnapshot(); s != nil {
		first = append(first, "current-snapshot-id="+strconv.FormatInt(s.ID, 10))
	}
	r.Options = append(first, r.Options...)
	return r
}

// partitionText spells a table's partition spec: month(order_time), region.
func partitionText(t *lake.Table) string {
	spec := t.DefaultSpec()
	if spec == nil {
		return ""
	}
	var out []string
	for _, f := range spec.Fields {
		if text := transformText(t, f.Name, f.SourceIDs, f.Transform); text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}

// transformText spells a transform of the first of the source columns; name is for a column that
// is no more. A void transform is "".
func transformText(t *lake.Table, name string, sources []int, tr lake.Transform) string {
	if len(sources) > 0 {
		if src, _ := t.Schema().ByID(sources[0]); src != nil {
			name = src.Name
		}
	}
	switch tr.Kind {
	case lake.Void:
		return ""
	case lake.Identity:
		return syscat.Quote(name)
	case lake.Bucket:
		return "bucket(" + strconv.Itoa(tr.Param) + ", " + syscat.Quote(name) + ")"
	case lake.Truncate:
		return "truncate(" + strconv.Itoa(tr.Param) + ", " + syscat.Quote(name) + ")"
	}
	return tr.Text + "(" + syscat.Quote(name) + ")"
}

// sortText spells a table's sort order as ORDER BY does.
func sortText(t *lake.Table) string {
	order := t.DefaultSortOrder()
	if order == nil {
		return ""
	}
	var out []string
	for _, f := range order.Fields {
		text := transformText(t, "", f.SourceIDs, f.Transform)
		if text == "" {
			continue
		}
		if f.Desc {
			text += " DESC"
		}
		if f.NullsFirst {
			text += " NULLS FIRST"
		} else {
			text += " NULLS LAST"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// identityText spells how columns number their rows, from where they go on: pg_dump reads that
// from sequences, which there are none of here.
func identityText(r *syscat.Relation) string {
	var out []string
	for _, c := range r.Columns {
		how := map[string]string{"always": "ALWAYS", "default": "BY DEFAULT", "auto_increment": "BY DEFAULT"}[c.Identity]
		if how != "" {
			out = append(out, fmt.Sprintf("%s GENERATED %s AS IDENTITY (START WITH %d INCREMENT BY %d)", syscat.Quote(c.Name), how, c.IdentityNext, c.IdentityStep))
		}
	}
	return strings.Join(out, ", ")
}

// viewReads notes the relations that the text of a view names, while a query of the view is bound.
type viewReads struct {
	bind.Catalog
	r *syscat.Relation
}

func (v viewReads) Relation(ctx context.Context, ref bind.TableRef) (*bind.Relation, error) {
	rel, err := v.Catalog.Relation(ctx, ref)
	if err == nil && ref.Depth == 1 && rel.OID != 0 && !slices.Contains(v.r.Reads, rel.OID) {
		v.r.Reads = append(v.r.Reads, rel.OID)
	}
	return rel, err
}

// describeView gives a view's columns as its query has them today.
func (h *host) describeView(ctx context.Context, n lake.Name) (*syscat.Relation, error) {
	v, err := h.s.catalogOf(n.Catalog).LoadView(ctx, n)
	if err != nil {
		return nil, err
	}
	r := &syscat.Relation{Entry: syscat.Entry{Name: n.Table, View: true}, SQL: v.SQL, Rows: -1, Comment: v.Properties["comment"]}
	sql := "SELECT * FROM " + h.s.names().quote(n.Namespace) + "." + h.s.names().quote(n.Table)
	list, err := h.s.dialect.parse(sql)
	if err == nil && len(list) == 1 {
		// A view that no longer binds (its tables are gone) keeps the columns of its definition.
		env := h.s.bindEnv(ctx, nil)
		env.Catalog = viewReads{env.Catalog, r}
		if b, err := bind.Bind(env, list[0], nil); err == nil {
			for _, c := range b.Columns {
				col := syscat.Column{Name: c.Name, Type: c.Type}
				if v.Schema != nil {
					if f := v.Schema.ByName(c.Name); f != nil {
						col.Comment = f.Doc
					}
				}
				r.Columns = append(r.Columns, col)
			}
			return r, nil
		}
	}
	if v.Schema != nil {
		for _, f := range v.Schema.Fields {
			r.Columns = append(r.Columns, syscat.Column{Name: f.Name, Type: f.Type, Comment: f.Doc})
		}
	}
	return r, nil
}

// Settings implements syscat.Host.
func (h *host) Settings() []syscat.Setting {
	kinds := map[settingKind]string{stringSetting: "string", boolSetting: "bool", intSetting: "integer", realSetting: "real",
		enumSetting: "enum", msSetting: "integer", kbSetting: "integer"}
	var out []syscat.Setting
	for _, d := range h.s.settings.all() {
		x := syscat.Setting{Name: d.name, Value: d.value, Default: h.s.settings.defaults[strings.ToLower(d.name)], Kind: kinds[d.kind], Doc: d.doc, Fixed: d.fixed}
		if d.kind == enumSetting {
			x.Enum = d.values()
		}
		out = append(out, x)
	}
	return out
}

// Sessions implements syscat.Host.
func (h *host) Sessions() []syscat.Session {
	var out []syscat.Session
	l, err := h.Lock(context.Background())
	for _, s := range h.s.engine.activeSessions() {
		user := uint32(guard.Bootstrap)
		hidden := err != nil
		if l != nil {
			r, ok := l.State.Role(s.opts.User)
			if ok {
				user = r.OID
			}
			hidden = !(l.Super || ok && l.State.HasRightsOf(l.Role, r.OID) || l.State.HasRightsOf(l.Role, guard.ReadAllStats))
		}
		app := s.applicationName()
		s.mu.Lock()
		a := s.activity
		out = append(out, syscat.Session{PID: s.pid, User: s.opts.User, Database: s.names().database(), App: app, Address: s.opts.RemoteAddr,
			State: a.state, Query: a.query, Start: s.start, QueryStart: a.queryStart, StateChange: a.stateStart, TxStart: a.txStart,
			UserOID: user, Hidden: hidden})
		s.mu.Unlock()
	}
	return out
}

// Prepared implements syscat.Host.
func (h *host) Prepared() []syscat.Prepared {
	var out []syscat.Prepared
	for n, p := range h.s.prepared {
		out = append(out, syscat.Prepared{Name: n, Text: p.text, Params: p.stmt.params, Time: p.at, FromSQL: p.fromSQL})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Cursors implements syscat.Host.
func (h *host) Cursors() []syscat.Cursor {
	var out []syscat.Cursor
	for n, c := range h.s.cursors {
		out = append(out, syscat.Cursor{Name: n, Text: c.query, Hold: c.hold, Scroll: c.scroll})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}
