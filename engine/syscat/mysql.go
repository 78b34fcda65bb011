package syscat

import (
	"context"
	_ "embed"
	"errors"
	"sort"
	"strings"
	"sync"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

// MySQLHost is what MySQL's information_schema, performance_schema, mysql and sys describe: all
// catalogs, as one session sees them.
type MySQLHost interface {
	// Databases are the namespaces of all catalogs under their MySQL names.
	Databases(ctx context.Context) ([]MySQLDatabase, error)
	User() string
	Sessions() []Session
	// List gives what the wire knows: rows of "session_variables", "global_variables",
	// "session_status", "global_status".
	List(name string) [][2]string
}

// MySQLDatabase is a namespace as a MySQL database.
type MySQLDatabase struct {
	Name      string
	Namespace string
	Host      Host // of its catalog
}

//go:embed mysql_columns.txt
var mysqlColumnsText string

// mysqlDefs are MySQL's system tables by lower-case schema and name: MySQL finds them in any case.
var mysqlDefs = sync.OnceValue(func() map[string]*def {
	m := map[string]*def{}
	for _, line := range strings.Split(strings.TrimSpace(mysqlColumnsText), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		w := strings.Fields(line)
		d := &def{schema: w[0], name: w[1], view: w[0] == "information_schema", index: map[string]int{}}
		for i, c := range w[2:] {
			name, kind, _ := strings.Cut(c, ":")
			t := types.T(types.Text)
			switch kind {
			case "i":
				t = types.T(types.Int8)
			case "d":
				t = types.T(types.Timestamp)
			}
			d.fields = append(d.fields, types.Field{Name: name, Type: t})
			d.index[name] = i
		}
		m[strings.ToLower(d.schema+"."+d.name)] = d
	}
	return m
})

// mysqlMakers are the tables that have rows, by lower-case schema and name.
var mysqlMakers map[string]rowsFunc

func init() {
	mysqlMakers = map[string]rowsFunc{
		"information_schema.schemata":                              mySchemata,
		"information_schema.tables":                                myTables,
		"information_schema.columns":                               myColumns,
		"information_schema.views":                                 myViews,
		"information_schema.statistics":                            myStatistics,
		"information_schema.table_constraints":                     myTableConstraints,
		"information_schema.referential_constraints":               myReferential,
		"information_schema.key_column_usage":                      myKeyColumns,
		"information_schema.partitions":                            myPartitions,
		"information_schema.character_sets":                        myCharacterSets,
		"information_schema.collations":                            myCollations,
		"information_schema.collation_character_set_applicability": myApplicability,
		"information_schema.engines":                               myEngines,
		"information_schema.plugins":                               myPlugins,
		"information_schema.processlist":                           myProcesslist,
		"information_schema.user_privileges":                       myUserPrivileges,
		"information_schema.keywords":                              myKeywords,
		"performance_schema.processlist":                           myProcesslist,
		"performance_schema.threads":                               myThreads,
		"performance_schema.session_variables":                     myList("session_variables"),
		"performance_schema.global_variables":                      myList("global_variables"),
		"performance_schema.session_status":                        myList("session_status"),
		"performance_schema.global_status":                         myList("global_status"),
		"mysql.user":                                               myUser,
		"sys.version":                                              myVersion,
		"sys.processlist":                                          mySysSessions,
		"sys.session":                                              mySysSessions,
		"sys.schema_object_overview":                               myOverview,
	}
}

// MySQLTable finds a system table of MySQL's; ok is false when there is none of the name.
func MySQLTable(h MySQLHost, schema, name string) (*Virtual, bool) {
	key := strings.ToLower(schema + "." + name)
	d := mysqlDefs()[key]
	if d == nil {
		return nil, false
	}
	return &Virtual{def: d, mysql: h, rows: mysqlMakers[key]}, true
}

// mysqlSystem are MySQL's own databases.
var mysqlSystem = []string{"information_schema", "mysql", "performance_schema", "sys"}

// myItem is a relation of a MySQL database: a system table where def is set.
type myItem struct {
	db    MySQLDatabase
	entry Entry
	def   *def
}

func (it myItem) kind() string {
	switch {
	case it.def != nil && it.def.view:
		return "SYSTEM VIEW"
	case it.entry.View:
		return "VIEW"
	}
	return "BASE TABLE"
}

// eachDatabase enumerates databases, MySQL's own among them, in order of their names.
func (q *query) eachDatabase(ctx context.Context, f func(db MySQLDatabase, system bool) error) error {
	list, err := q.mysql.Databases(ctx)
	if err != nil {
		return err
	}
	own := map[string]bool{}
	for _, s := range mysqlSystem {
		list, own[s] = append(list, MySQLDatabase{Name: s}), true
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	for _, db := range list {
		if db.Host != nil {
			l, err := db.Host.Lock(ctx)
			if err != nil {
				return err
			}
			if !l.seesSchema(db.Namespace) {
				continue
			}
		}
		if err := f(db, db.Host == nil && own[db.Name]); err != nil {
			return err
		}
	}
	return nil
}

// eachRelation enumerates the relations that the query may want by the columns that name their
// database and themselves.
func (q *query) eachRelation(ctx context.Context, dbCol, nameCol string, f func(myItem) error) error {
	return q.eachDatabase(ctx, func(db MySQLDatabase, system bool) error {
		if !q.may(dbCol, db.Name) {
			return nil
		}
		if system {
			for _, d := range mysqlTablesOf(db.Name) {
				if q.may(nameCol, d.name) {
					if err := f(myItem{db, Entry{Name: d.name, View: d.view}, d}); err != nil {
						return err
					}
				}
			}
			return nil
		}
		entries, err := db.Host.Entries(ctx, db.Namespace)
		if err != nil {
			return err
		}
		l, err := db.Host.Lock(ctx)
		if err != nil {
			return err
		}
		wanted := q.among(nameCol, entries)
		for i, e := range entries {
			if wanted[i] && l.sees(item{schema: db.Namespace, entry: e}) {
				if err := f(myItem{db, e, nil}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func mysqlTablesOf(schema string) []*def {
	var out []*def
	for _, d := range mysqlDefs() {
		if d.schema == schema {
			out = append(out, d)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].name < out[j].name })
	return out
}

// relation loads an item; nil for one that vanished meanwhile or cannot be read: a broken table
// may not hide all others.
func (q *query) relation(ctx context.Context, it myItem) (*Relation, error) {
	if it.def != nil {
		r := &Relation{Entry: it.entry, Rows: -1}
		for _, f := range it.def.fields {
			r.Columns = append(r.Columns, Column{Name: f.Name, Type: f.Type})
		}
		return r, nil
	}
	r, err := it.db.Host.Relation(ctx, it.db.Namespace, it.entry.Name)
	var nf *lake.NotFound
	if errors.As(err, &nf) || err != nil && ctx.Err() == nil {
		return nil, nil
	}
	return r, err
}

// eachMyOf is eachOf over MySQL's databases.
func eachMyOf[T any](ctx context.Context, q *query, dbCol, nameCol string, of func(*Relation) []T, f func(it myItem, r *Relation, x T) error) error {
	return q.eachRelation(ctx, dbCol, nameCol, func(it myItem) error {
		if it.def != nil || it.entry.View {
			return nil
		}
		r, err := q.relation(ctx, it)
		if err != nil || r == nil {
			return err
		}
		for _, x := range of(r) {
			if err := f(it, r, x); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachKey enumerates keys.
func (q *query) eachKey(ctx context.Context, dbCol, nameCol string, f func(it myItem, r *Relation, k Key) error) error {
	return eachMyOf(ctx, q, dbCol, nameCol, keysOf, f)
}

// mysqlName is what MySQL calls a key.
func (k Key) mysqlName() string {
	if k.Primary {
		return "PRIMARY"
	}
	return k.Name
}
