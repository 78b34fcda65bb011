package ast

// Statements about roles and privileges, of both dialects.

// RoleName names a role in a statement: by Name, or as who is meant by Special: "public",
// "current_user", "session_user".
type RoleName struct {
	Name, Special string
	Pos           int
}

// RoleOptions are what CREATE and ALTER ROLE say; nil where they say nothing.
type RoleOptions struct {
	Super, Inherit, CreateRole, CreateDB, Login, BypassRLS *bool
	Limit                                                  *int
	// Password is it in clear, or a verifier that is stored as it is; "" with NoPassword takes it away.
	Password   *string
	NoPassword bool
	// Hash: Password is MySQL's hash of one. Native: MySQL's older method is to know it, too.
	Hash, Native bool
	Until        *string // VALID UNTIL
}

// CreateRole is CREATE ROLE, USER and GROUP.
type CreateRole struct {
	Kind        string // "ROLE", "USER", "GROUP"
	Name        RoleName
	IfNotExists bool
	Options     RoleOptions
	In          []RoleName  // roles that it becomes a member of
	Members     []RoleName  // members that it gets
	Admins      []RoleName  // the same, with ADMIN OPTION
	Next        *CreateRole // MySQL makes several at once
	Pos         int
}

// AlterRole changes a role.
type AlterRole struct {
	Kind     string
	Role     RoleName
	IfExists bool
	Options  RoleOptions
	// Members are added by ALTER GROUP … ADD USER, or with Drop dropped.
	Members []RoleName
	Drop    bool
	Pos     int
}

// RenameRole is ALTER ROLE … RENAME TO.
type RenameRole struct {
	From, To RoleName
	Pos      int
}

// DropRole is DROP ROLE, USER and GROUP.
type DropRole struct {
	Kind     string
	Roles    []RoleName
	IfExists bool
	Pos      int
}

// GrantRole is GRANT and REVOKE of membership in roles. The options are nil where nothing is said of
// them; of REVOKE those that are not nil are what is taken.
type GrantRole struct {
	Revoke              bool
	Roles               []RoleName
	To                  []RoleName
	Admin, Inherit, Set *bool
	By                  *RoleName
	Cascade             bool
	Pos                 int
}

// GrantPriv is a privilege as it is written, perhaps on columns. Name "" is ALL.
type GrantPriv struct {
	Name    string
	Columns []string
}

// Grant is GRANT and REVOKE of privileges. Kind: "table", "schema", "database", "tables in schema"; in
// MySQL "in database" (db.*), "in this database" (*), "everything" (*.*), and for REVOKE ALL, GRANT
// OPTION "whatever". Other kinds are objects that the lakehouse has none of.
type Grant struct {
	Revoke  bool
	Privs   []GrantPriv
	Kind    string
	Objects []Name
	Branch  string // the privileges are on this branch of the tables alone
	To      []RoleName
	Option  bool // WITH GRANT OPTION; of REVOKE: GRANT OPTION FOR
	By      *RoleName
	Cascade bool
	Pos     int
}

// DefaultPrivileges is ALTER DEFAULT PRIVILEGES; of Grant count what it gives and to whom, and Kind:
// "table", "schema", or another.
type DefaultPrivileges struct {
	Roles   []RoleName
	Schemas []string
	Grant   Grant
	Pos     int
}

// SetOwner is ALTER … OWNER TO. Kind: "table", "view", "schema", "database", or another.
type SetOwner struct {
	Kind     string
	Name     Name
	IfExists bool
	To       RoleName
	Pos      int
}

// ReassignOwned is REASSIGN OWNED BY … TO.
type ReassignOwned struct {
	Roles []RoleName
	To    RoleName
	Pos   int
}

// DropOwned is DROP OWNED BY.
type DropOwned struct {
	Roles   []RoleName
	Cascade bool
	Pos     int
}

func (*CreateRole) stmt()        {}
func (*AlterRole) stmt()         {}
func (*RenameRole) stmt()        {}
func (*DropRole) stmt()          {}
func (*GrantRole) stmt()         {}
func (*Grant) stmt()             {}
func (*DefaultPrivileges) stmt() {}
func (*SetOwner) stmt()          {}
func (*ReassignOwned) stmt()     {}
func (*DropOwned) stmt()         {}
