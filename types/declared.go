package types

// This file spells a column's declared type as text and reads it again: that is how a table keeps
// it beside its own, which has fewer (docs/sql.md, "Types").

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MySQLType is what a MySQL type is beyond the kind and length of its values.
type MySQLType struct {
	Name      string // tinyint, mediumint, year, bit, enum, set, char, json …, in lower case
	Width     int    // tinyint(1)'s 1, bit(n)'s n, binary(n)'s n; 0: none
	Unsigned  bool
	Members   []string // of enum and set, in their order
	Collation string   // of texts; "" the default
}

// Spell is the text that ReadSpelled reads as t: PostgreSQL's format_type, or MySQL's own spelling
// behind "mysql:". Arrays, structs and maps are spelled by their members.
func (t Type) Spell() string {
	if t.MySQL == nil {
		return t.String()
	}
	s := "mysql:" + t.MySQLString()
	if t.MySQL.Collation != "" {
		s += " collate " + t.MySQL.Collation
	}
	return s
}

// MySQLString is MySQL's COLUMN_TYPE of t, whose MySQL is set.
func (t Type) MySQLString() string {
	m := t.MySQL
	mods := ""
	switch {
	case m.Members != nil:
		quoted := make([]string, len(m.Members))
		for i, s := range m.Members {
			quoted[i] = "'" + strings.ReplaceAll(s, "'", "''") + "'"
		}
		mods = "(" + strings.Join(quoted, ",") + ")"
	case m.Width > 0:
		mods = "(" + strconv.Itoa(m.Width) + ")"
	case m.Name == "decimal":
		mods = "(" + strconv.Itoa(int(t.Prec)) + "," + strconv.Itoa(int(t.Scale)) + ")"
	case t.Kind == Varchar && t.Prec > 0:
		mods = "(" + strconv.Itoa(int(t.Prec)) + ")"
	default:
		if p, ok := t.SecondDigits(); ok && p > 0 {
			mods = "(" + strconv.Itoa(p) + ")"
		}
	}
	if m.Unsigned {
		mods += " unsigned"
	}
	return m.Name + mods
}

// ReadSpelled reads what Spell wrote; ok is false for what it does not know, such as a later
// version's.
func ReadSpelled(text string) (t Type, ok bool) {
	if my, is := strings.CutPrefix(text, "mysql:"); is {
		return readMySQL(my)
	}
	name, mods, rest := cutMods(text)
	name += rest
	for k := Bool; k < numKinds; k++ {
		if kindNames[k] != name {
			continue
		}
		t = T(k)
		switch k {
		case Numeric:
			if len(mods) == 2 && mods[0] >= 1 && mods[0] <= 1000 && mods[1] >= 0 && mods[1] <= mods[0] {
				return DecimalType(mods[0], mods[1]), true
			}
		case Varchar, Bpchar:
			if len(mods) == 1 && mods[0] >= 1 && mods[0] <= MaxLength {
				t.Prec, t.Declared = int32(mods[0]), true
				return t, true
			}
		case Time, TimeTZ, Timestamp, TimestampTZ, Interval:
			if len(mods) == 1 && mods[0] >= 0 && mods[0] <= 6 {
				return t.WithSecondDigits(mods[0]), true
			}
		}
		return t, len(mods) == 0
	}
	return Type{}, false
}

// MaxLength is the greatest n of varchar(n) and char(n).
const MaxLength = 10485760

// cutMods takes "(3,2)" out of a type's name.
func cutMods(text string) (name string, mods []int, rest string) {
	name, inner, found := strings.Cut(text, "(")
	if !found {
		return text, nil, ""
	}
	inner, rest, _ = strings.Cut(inner, ")")
	for _, m := range strings.Split(inner, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(m))
		if err != nil {
			return text, nil, ""
		}
		mods = append(mods, n)
	}
	return name, mods, rest
}

// readMySQL reads what Spell wrote of a MySQL type.
func readMySQL(text string) (t Type, ok bool) {
	m := MySQLType{}
	if s, c, found := strings.Cut(text, " collate "); found && !strings.Contains(c, "'") {
		text, m.Collation = s, c
	}
	text, m.Unsigned = strings.CutSuffix(text, " unsigned")
	if name, list, found := strings.Cut(text, "('"); found {
		list, ok = strings.CutSuffix(list, "')")
		m.Name = name
		// Two quotes stand for one, so that "','" may lie within a member: a''','' … is put together.
		m.Members = joinQuoted(strings.Split(list, "','"))
		if !ok {
			return Type{}, false
		}
		return MySQLTypeOf(m, nil)
	}
	name, mods, rest := cutMods(text)
	m.Name = name
	if rest != "" {
		return Type{}, false
	}
	return MySQLTypeOf(m, mods)
}

// joinQuoted puts together what was split within a quoted text, where it has an odd number of
// quotes at its end, and makes one quote of two.
func joinQuoted(parts []string) []string {
	var out []string
	for i := 0; i < len(parts); i++ {
		s := parts[i]
		for (len(s)-len(strings.TrimRight(s, "'")))%2 == 1 && i+1 < len(parts) {
			i++
			s += "','" + parts[i]
		}
		out = append(out, strings.ReplaceAll(s, "''", "'"))
	}
	return out
}

// MySQLTypeOf is the type that values of a MySQL type have here, by its name, sign, members and
// collation (m) and the numbers in its brackets; ok is false where there is no such type. Types
// that are the same without, such as INT and BIGINT, come without MySQL set.
//
//	BIGINT UNSIGNED is numeric(20,0), INT UNSIGNED bigint, SMALLINT UNSIGNED integer: the next type
//	that holds all values. BIT(n) is a number, YEAR a smallint, ENUM and SET are text.
func MySQLTypeOf(m MySQLType, mods []int) (t Type, ok bool) {
	mod := func(def int) int {
		if len(mods) > 0 {
			return mods[0]
		}
		return def
	}
	plain := m.Collation == "" && !m.Unsigned
	with := func(t Type) (Type, bool) {
		t.MySQL = &m
		return t, true
	}
	maybe := func(t Type) (Type, bool) {
		if plain {
			return t, true
		}
		return with(t)
	}
	switch m.Name {
	case "tinyint":
		if mod(0) == 1 {
			m.Width = 1
		}
		return with(T(Int2))
	case "smallint":
		if m.Unsigned {
			return with(T(Int4))
		}
		return maybe(T(Int2))
	case "mediumint":
		return with(T(Int4))
	case "int":
		if m.Unsigned {
			return with(T(Int8))
		}
		return maybe(T(Int4))
	case "bigint":
		if m.Unsigned {
			return with(DecimalType(20, 0))
		}
		return maybe(T(Int8))
	case "decimal":
		p, s := mod(10), 0
		if len(mods) > 1 {
			s = mods[1]
		}
		if p < 1 || p > 65 || s < 0 || s > 30 || s > p {
			return Type{}, false
		}
		return maybe(DecimalType(p, s))
	case "float":
		return maybe(T(Float4))
	case "double":
		return maybe(T(Float8))
	case "bit":
		if m.Width = mod(1); m.Width < 1 || m.Width > 64 {
			return Type{}, false
		}
		if m.Width == 64 {
			return with(DecimalType(20, 0))
		}
		return with(T(Int8))
	case "year":
		return with(T(Int2))
	case "enum", "set":
		if len(m.Members) == 0 || m.Name == "set" && len(m.Members) > 64 {
			return Type{}, false
		}
		return with(T(Text))
	case "json":
		return with(T(JSONB))
	case "char", "varchar":
		t = Type{Kind: Varchar, Prec: int32(mod(1)), Declared: true}
		if t.Prec < 1 || t.Prec > 65535 {
			return Type{}, false
		}
		if m.Name == "varchar" {
			return maybe(t)
		}
		return with(t)
	case "tinytext", "text", "mediumtext":
		return with(T(Text))
	case "longtext":
		return maybe(T(Text))
	case "binary", "varbinary":
		m.Width = mod(1)
		return with(T(Bytea))
	case "tinyblob", "blob", "mediumblob":
		return with(T(Bytea))
	case "longblob":
		return maybe(T(Bytea))
	}
	if k, is := map[string]Kind{"time": Time, "datetime": Timestamp, "timestamp": TimestampTZ}[m.Name]; is {
		if p := mod(0); p >= 0 && p <= 6 {
			return T(k).WithSecondDigits(p), true
		}
	}
	return Type{}, false
}

// Longest is the length in characters of an ENUM's longest member, or of all of a SET's with commas.
func (m *MySQLType) Longest() int {
	n := 0
	for _, s := range m.Members {
		if l := utf8.RuneCountInString(s); m.Name == "set" {
			n += l + 1
		} else {
			n = max(n, l)
		}
	}
	if m.Name == "set" {
		n--
	}
	return n
}

// Integer is Bounds for what may be nil.
func (m *MySQLType) Integer() (lo int64, hi uint64, ok bool) {
	if m == nil {
		return 0, 0, false
	}
	return m.Bounds()
}

// Bounds are the least and the greatest integer of a MySQL integer type, bit and year; ok is false
// for others. The greatest of BIGINT UNSIGNED and BIT(64) does not fit, and is MaxUint64.
func (m *MySQLType) Bounds() (lo int64, hi uint64, ok bool) {
	bits := map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64, "bit": m.Width}[m.Name]
	switch {
	case m.Name == "year":
		return 0, 2155, true
	case bits == 0:
		return 0, 0, false
	case m.Unsigned || m.Name == "bit":
		return 0, 1<<bits - 1, true
	}
	return -1 << (bits - 1), 1<<(bits-1) - 1, true
}

// Member is the place of an enum's or a set's member, from 1, as MySQL's default collation finds
// it; 0: there is none.
func (m *MySQLType) Member(s string) int {
	if i := slices.Index(m.Members, s); i >= 0 {
		return i + 1
	}
	s = strings.TrimRight(s, " ")
	return slices.IndexFunc(m.Members, func(x string) bool { return strings.EqualFold(x, s) }) + 1
}
