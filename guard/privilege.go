package guard

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Privilege is a set of privileges. The bits stand in PostgreSQL's order, which is that of an
// aclitem's letters; the lakehouse's own come last.
type Privilege uint32

const (
	Insert Privilege = 1 << iota
	Select
	Update
	Delete
	Truncate
	References
	Trigger
	Execute
	Usage
	Create
	Temporary
	Connect
	Set
	AlterSystem
	Maintain // compaction, expiry, statistics …: PostgreSQL 17's
	History  // reading the past: time travel and the metadata tables that list it
	Publish  // moving main: fast forward, rollback, cherry-pick
)

// letters has the letter of each privilege in an aclitem, names its name.
const letters = "arwdDxtXUCTcsAmhp"

var names = [...]string{"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "EXECUTE", "USAGE",
	"CREATE", "TEMPORARY", "CONNECT", "SET", "ALTER SYSTEM", "MAINTAIN", "HISTORY", "PUBLISH"}

// String lists the privileges by their names.
func (p Privilege) String() string {
	var out []string
	for i, n := range names {
		if p&(1<<i) != 0 {
			out = append(out, n)
		}
	}
	return strings.Join(out, ", ")
}

// PrivilegeOf finds a privilege by its name, whatever its case.
func PrivilegeOf(name string) (Privilege, error) {
	up := strings.ToUpper(name)
	if up == "TEMP" {
		up = "TEMPORARY"
	}
	for i, n := range names {
		if n == up {
			return 1 << i, nil
		}
	}
	return 0, sqlerr.New(sqlerr.SyntaxError, "unrecognized privilege type %q", strings.ToLower(name))
}

// Kind is what an object is.
type Kind string

const (
	Database Kind = "database"
	Schema   Kind = "schema"
	Table    Kind = "table" // or a view
	Column   Kind = "column"
	Ref      Kind = "branch"
)

// All are the privileges that a kind of object has.
func (k Kind) All() Privilege {
	switch k {
	case Database:
		return Create | Temporary | Connect
	case Schema:
		return Usage | Create
	case Table:
		return Insert | Select | Update | Delete | Truncate | References | Trigger | Maintain | History | Publish
	case Column:
		return Insert | Select | Update | References
	case Ref:
		return Insert | Update | Delete | Truncate
	}
	return 0
}

// public is what everybody may do with an object whose privileges nobody has changed.
func (k Kind) public() Privilege {
	if k == Database {
		return Temporary | Connect
	}
	return 0
}
