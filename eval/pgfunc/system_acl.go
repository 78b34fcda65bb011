package pgfunc

// Access control lists and lists of options, as pg_dump and pgAdmin take them apart: aclitem is
// text of the form grantee=privileges/grantor here (types.TextAs).

import (
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// privilegeLetters has the letter of each privilege in PostgreSQL's order of bits, which is the
// order of aclexplode's rows; privilegeNames has their names. The last three are those that PostgreSQL 15
// has not: MAINTAIN, and the lakehouse's own.
const privilegeLetters = "arwdDxtXUCTcsAmhp"

var privilegeNames = [...]string{"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER",
	"EXECUTE", "USAGE", "CREATE", "TEMPORARY", "CONNECT", "SET", "ALTER SYSTEM", "MAINTAIN", "HISTORY", "PUBLISH"}

// defaultPrivileges says by the letter of a kind of object what everybody and what its owner may
// do with a new one (PostgreSQL's acldefault).
var defaultPrivileges = map[string]struct{ world, owner string }{
	"c": {"", ""}, "r": {"", "arwdDxt"}, "s": {"", "rwU"}, "d": {"Tc", "CTc"}, "f": {"X", "X"}, "l": {"U", "U"},
	"L": {"", "rw"}, "n": {"", "UC"}, "p": {"", "sA"}, "t": {"", "C"}, "F": {"", "U"}, "S": {"", "U"}, "T": {"U", "U"},
}

func registerSystemAcl() {
	item, _ := types.TextAs("aclitem")
	items := types.ArrayOf(item)
	privilege := types.RecordOf(types.Field{Name: "grantor", Type: types.T(types.Oid)}, types.Field{Name: "grantee", Type: types.T(types.Oid)},
		types.Field{Name: "privilege_type", Type: eval.TText}, types.Field{Name: "is_grantable", Type: eval.TBool})
	option := types.RecordOf(types.Field{Name: "option_name", Type: eval.TText}, types.Field{Name: "option_value", Type: eval.TText})
	explode := eval.Stable("aclexplode", []types.Type{items}, privilege, eval.SetKernel(aclExplode))
	explode.OID = 1689 // the key of oids_gen.go says text[]
	eval.Register(
		explode,
		// Stable, not immutable as in PostgreSQL: it names roles, which the session knows.
		eval.Stable("acldefault", eval.Sig(types.Char, types.Oid), items, eval.Row(aclDefault)),
		eval.Stable("pg_options_to_table", []types.Type{eval.TTextArray}, option, eval.SetKernel(optionsToTable)),
	)
}

func aclDefault(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	p, ok := defaultPrivileges[a[0].Str()]
	if !ok {
		return types.Null, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized objtype abbreviation: %s", a[0].Str())
	}
	oid := a[1].Int()
	owner := strconv.FormatInt(oid, 10)
	if s, err := session(c); err == nil {
		if n, ok := s.ObjectName("pg_authid", uint32(oid)); ok {
			owner = quoteRole(n)
		}
	}
	out := []types.Datum{}
	if p.world != "" {
		out = append(out, types.NewStr("="+p.world+"/"+owner))
	}
	if p.owner != "" {
		grantee := owner
		if oid == 0 {
			grantee = "" // the role 0 is everybody
		}
		out = append(out, types.NewStr(grantee+"="+p.owner+"/"+owner))
	}
	return types.NewList(out), nil
}

// quoteRole spells a role in an aclitem: quoted when it holds more than letters, digits and
// underscores.
func quoteRole(name string) string {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && c < 0x80 {
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	return name
}

func aclExplode(c *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
	for _, d := range a[0].List() {
		if d.IsNull() {
			return sqlerr.New(sqlerr.NullNotAllowed, "ACL arrays must not contain null values")
		}
		if err := explodeItem(c, d.Str(), yield); err != nil {
			return err
		}
	}
	return nil
}

func explodeItem(c *eval.Ctx, item string, yield func(types.Datum) error) error {
	grantee, rest := cutRole(item)
	rest, ok := strings.CutPrefix(rest, "=")
	if !ok {
		return sqlerr.New(sqlerr.InvalidTextRepresentation, "missing \"=\" sign")
	}
	var held, grantable [len(privilegeLetters)]bool
	for last := -1; rest != "" && rest[0] != '/'; rest = rest[1:] {
		if rest[0] == '*' && last >= 0 {
			grantable[last] = true
			continue
		}
		if last = strings.IndexByte(privilegeLetters, rest[0]); last < 0 {
			return sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid mode character: must be one of \"%s\"", privilegeLetters)
		}
		held[last] = true
	}
	to, by := int64(0), int64(10) // without a grantor PostgreSQL takes the bootstrap superuser
	var err error
	if grantee != "" {
		if to, err = roleOID(c, grantee); err != nil {
			return err
		}
	}
	if rest != "" {
		grantor, tail := cutRole(rest[1:])
		if strings.TrimSpace(tail) != "" {
			return sqlerr.New(sqlerr.InvalidTextRepresentation, "extra garbage at the end of the ACL specification")
		}
		if by, err = roleOID(c, grantor); err != nil {
			return err
		}
	}
	for i, has := range held {
		if !has {
			continue
		}
		row := []types.Datum{types.NewInt(by), types.NewInt(to), types.NewStr(privilegeNames[i]), types.NewBool(grantable[i])}
		if err := yield(types.NewStruct(row)); err != nil {
			return err
		}
	}
	return nil
}

// cutRole reads the name, quoted or not, that s begins with.
func cutRole(s string) (name, rest string) {
	s = strings.TrimLeft(s, " \t\n")
	quoted := false
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case ch == '"' && quoted && i+1 < len(s) && s[i+1] == '"':
			name += `"`
			i++
		case ch == '"':
			quoted = !quoted
		case quoted || ch == '_' || ch >= '0' && ch <= '9' || ch|0x20 >= 'a' && ch|0x20 <= 'z' || ch >= 0x80:
			name += string([]byte{ch})
		default:
			return name, strings.TrimLeft(s[i:], " \t\n")
		}
	}
	return name, ""
}

// roleOID finds a role by name, or by number: a role that is no more shows as that.
func roleOID(c *eval.Ctx, name string) (int64, error) {
	s, err := session(c)
	if err != nil {
		return 0, err
	}
	if oid, ok := s.ObjectOID("pg_authid", `"`+strings.ReplaceAll(name, `"`, `""`)+`"`); ok {
		return int64(oid), nil
	}
	if n, err := strconv.ParseUint(name, 10, 32); err == nil {
		return int64(n), nil
	}
	return 0, sqlerr.New(sqlerr.UndefinedObject, "role %q does not exist", name)
}

// optionsToTable takes name=value apart at its first sign of equality.
func optionsToTable(_ *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
	for _, d := range a[0].List() {
		if d.IsNull() {
			return sqlerr.New(sqlerr.NullNotAllowed, "null array element not allowed in this context")
		}
		name, value, ok := strings.Cut(d.Str(), "=")
		row := []types.Datum{types.NewStr(name), types.Null}
		if ok {
			row[1] = types.NewStr(value)
		}
		if err := yield(types.NewStruct(row)); err != nil {
			return err
		}
	}
	return nil
}
