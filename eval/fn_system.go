package eval

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// Functions of the session and of the system: PostgreSQL's chapters 9.26 and 9.27. What they
// say of catalogs and of other sessions comes from the Session; a function that it does not
// answer gives what PostgreSQL gives for an object that does not exist.
func init() {
	const text, name, oid, i4, i8, b = types.Text, types.Name, types.Oid, types.Int4, types.Int8, types.Bool
	for _, n := range []string{"current_user", "session_user", "user", "current_role"} {
		Register(stable(n, nil, tName, Ask0(func(c *Ctx) (string, error) {
			s, err := session(c)
			if err != nil {
				return "", err
			}
			if n == "session_user" {
				user, _ := s.Setting("session_authorization")
				return user, nil
			}
			return s.User(), nil
		})))
	}
	for _, n := range []string{"current_database", "current_catalog"} {
		Register(stable(n, nil, tName, Ask0(func(c *Ctx) (string, error) {
			s, err := session(c)
			if err != nil {
				return "", err
			}
			return s.Database(), nil
		})))
	}
	Register(
		stable("current_schema", nil, tName, Row(currentSchema)),
		stable("current_schemas", sig(b), types.ArrayOf(tName), Row(currentSchemas)),
		stable("current_setting", sig(text), tText, Row(currentSetting)),
		stable("current_setting", sig(text, b), tText, Row(currentSetting)),
		vol("set_config", sig(text, text, b), tText, Row(setConfig)).nonStrict(),
		vol("lastval", nil, tInt8, Ask0(func(c *Ctx) (int64, error) {
			s, err := session(c)
			if err != nil {
				return 0, err
			}
			n, ok := s.LastNumber()
			if !ok {
				return 0, sqlerr.New(sqlerr.ObjectNotInPrerequisite, "lastval is not yet defined in this session")
			}
			return n, nil
		})),
		stable("pg_backend_pid", nil, tInt4, Ask0(func(c *Ctx) (int32, error) {
			s, err := session(c)
			if err != nil {
				return 0, err
			}
			return s.BackendPID(), nil
		})),
		stable("version", nil, tText, asked("version", types.NewStr("PostgreSQL 15.18 (lhsql)"))),
		stable("pg_typeof", sig(types.Any), types.T(types.Regtype), typed(func(_ *Ctx, _ []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
			return types.NewInt(int64(t[0].OID())), nil
		})).nonStrict(),
		stable("format_type", sig(oid, i4), tText, Row(formatType)).nonStrict(),
		stable("pg_get_userbyid", sig(oid), tName, Row(func(c *Ctx, a []types.Datum) (types.Datum, error) {
			if s, err := session(c); err == nil {
				if n, ok := s.ObjectName("pg_authid", uint32(a[0].Int())); ok {
					return types.NewStr(n), nil
				}
			}
			return types.NewStr(fmt.Sprintf("unknown (OID=%d)", a[0].Int())), nil
		})),
		imm("pg_encoding_to_char", sig(i4), tName, Fn1(func(i int64) string {
			return map[int64]string{0: "SQL_ASCII", 6: "UTF8", 8: "LATIN1"}[i]
		})).total(),
		imm("pg_char_to_encoding", sig(name), tInt4, Fn1(func(s string) int64 {
			if i, ok := map[string]int64{"sql_ascii": 0, "utf8": 6, "latin1": 8}[encodingOf(s)]; ok {
				return i
			}
			return -1
		})).total(),
		stable("pg_client_encoding", nil, tName, Ask0(func(c *Ctx) (string, error) {
			if s, err := session(c); err == nil {
				if v, ok := s.Setting("client_encoding"); ok {
					return v, nil
				}
			}
			return "UTF8", nil
		})),
		stable("getdatabaseencoding", nil, tName, Ask0(func(*Ctx) (string, error) { return "UTF8", nil })),
		imm("pg_collation_for", sig(types.Any), tText, typed(func(_ *Ctx, _ []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
			if t[0].IsString() {
				return types.NewStr(`"default"`), nil
			}
			return types.Null, sqlerr.New(sqlerr.DatatypeMismatch, "collations are not supported by type %s", t[0])
		})).nonStrict(),
		vol("pg_sleep", sig(types.Float8), tVoid, Ask1(func(c *Ctx, secs float64) (types.Datum, error) {
			return types.NewStr(""), sleep(callContext(c), secs)
		})),
		vol("mysql:sleep", sig(types.Float8), tInt4, Row(func(c *Ctx, a []types.Datum) (types.Datum, error) {
			if a[0].IsNull() || !(a[0].Float() >= 0) {
				return types.Null, sqlerr.New(sqlerr.InvalidParameterValue, "Incorrect arguments to sleep.")
			}
			return types.NewInt(0), sleep(callContext(c), a[0].Float())
		})).nonStrict(),
		imm("pg_size_pretty", sig(i8), tText, Fn1(func(v int64) string { return sizePretty(types.DecimalFromInt64(v)) })).total(),
		imm("pg_size_pretty", sig(types.Numeric), tText, Fn1(sizePretty)).total(),
		imm("pg_size_bytes", sig(text), tInt8, Try1(sizeBytes)),
	)
	for _, kind := range []types.Kind{types.Regclass, types.Regtype, types.Regproc, types.Regnamespace, types.Regrole,
		types.Regprocedure, types.Regoper, types.Regoperator} {
		Register(stable("to_"+types.T(kind).String(), sig(text), types.T(kind), Row(func(c *Ctx, a []types.Datum) (types.Datum, error) {
			s, err := session(c)
			if err != nil {
				return types.Null, err
			}
			if oid, ok := s.ObjectOID(RegCatalog(kind), a[0].Str()); ok {
				return types.NewInt(int64(oid)), nil
			}
			return types.Null, nil
		})))
	}
	visibility()
	privileges()
	catalogFunctions()
}

// session is the session, or an error where there is none (constants folded for a view).
func session(c *Ctx) (Session, error) {
	if c == nil || c.Session == nil {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "this function needs a session")
	}
	return c.Session, nil
}

func callContext(c *Ctx) context.Context {
	if c == nil || c.Context == nil {
		return context.Background()
	}
	return c.Context
}

// asked makes a function that the session answers; fallback is its value where it does not.
func asked(name string, fallback types.Datum) Row {
	return func(c *Ctx, a []types.Datum) (types.Datum, error) {
		if s, err := session(c); err == nil {
			if v, ok, err := s.Call(callContext(c), name, a); ok || err != nil {
				return v, err
			}
		}
		return fallback, nil
	}
}

// currentSchema is the first schema of the search path that was asked for by name.
func currentSchema(c *Ctx, _ []types.Datum) (types.Datum, error) {
	s, err := session(c)
	if err != nil {
		return types.Null, err
	}
	for _, n := range s.SearchPath() {
		if n != "pg_catalog" && !strings.HasPrefix(n, "pg_temp") {
			return types.NewStr(n), nil
		}
	}
	return types.Null, nil
}

func currentSchemas(c *Ctx, a []types.Datum) (types.Datum, error) {
	s, err := session(c)
	if err != nil {
		return types.Null, err
	}
	var out []types.Datum
	for _, n := range s.SearchPath() {
		if a[0].Bool() || n != "pg_catalog" && !strings.HasPrefix(n, "pg_temp") {
			out = append(out, types.NewStr(n))
		}
	}
	return types.NewList(out), nil
}

func currentSetting(c *Ctx, a []types.Datum) (types.Datum, error) {
	s, err := session(c)
	if err != nil {
		return types.Null, err
	}
	if v, ok := s.Setting(strings.ToLower(a[0].Str())); ok {
		return types.NewStr(v), nil
	}
	if len(a) > 1 && a[1].Bool() {
		return types.Null, nil
	}
	return types.Null, sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", a[0].Str())
}

func setConfig(c *Ctx, a []types.Datum) (types.Datum, error) {
	s, err := session(c)
	if err != nil {
		return types.Null, err
	}
	if a[0].IsNull() {
		return types.Null, sqlerr.New(sqlerr.NullNotAllowed, "SET requires parameter name")
	}
	value, name := "", strings.ToLower(a[0].Str())
	if !a[1].IsNull() {
		value = a[1].Str()
	}
	if err := s.SetSetting(name, value, !a[2].IsNull() && a[2].Bool()); err != nil {
		return types.Null, err
	}
	if v, ok := s.Setting(name); ok {
		value = v
	}
	return types.NewStr(value), nil
}

// formatType spells a type by its OID and modifier, as psql's \d shows it.
func formatType(c *Ctx, a []types.Datum) (types.Datum, error) {
	if a[0].IsNull() {
		return types.Null, nil
	}
	if a[0].Int() == 0 {
		return types.NewStr("-"), nil
	}
	t, ok := types.FromOID(uint32(a[0].Int()))
	if !ok {
		// A type of the catalogs that no value here has.
		if s, err := session(c); err == nil {
			if n, ok := s.ObjectName("pg_type", uint32(a[0].Int())); ok {
				return types.NewStr(n), nil
			}
		}
		return types.NewStr("???"), nil
	}
	mod := int64(-1)
	if !a[1].IsNull() {
		mod = a[1].Int()
	}
	return types.NewStr(spellType(t, mod, !a[1].IsNull())), nil
}

func spellType(t types.Type, mod int64, given bool) string {
	if t.Kind == types.Array {
		return spellType(t.Elem(), mod, given) + "[]"
	}
	switch t.Kind {
	case types.Numeric:
		if mod >= 4 {
			m := mod - 4
			scale := (m&0x7ff ^ 1024) - 1024
			return fmt.Sprintf("numeric(%d,%d)", m>>16&0xffff, scale)
		}
	case types.Varchar:
		if mod >= 4 {
			return fmt.Sprintf("character varying(%d)", mod-4)
		}
	case types.Bpchar:
		switch {
		case mod >= 4:
			return fmt.Sprintf("character(%d)", mod-4)
		case given:
			return "bpchar"
		}
	case types.Time, types.TimeTZ, types.Timestamp, types.TimestampTZ:
		if mod >= 0 {
			head, tail, _ := strings.Cut(t.String(), " ")
			return fmt.Sprintf("%s(%d) %s", head, mod, tail)
		}
	case types.Interval:
		// The low half is the precision, the high half a mask of the fields.
		if mod >= 0 && mod>>16&0x7fff == 0x7fff && mod&0xffff != 0xffff {
			return fmt.Sprintf("interval(%d)", mod&0xffff)
		}
	case types.Bool, types.Int2, types.Int4, types.Int8, types.Float4, types.Float8:
	default:
		if mod >= 0 {
			return fmt.Sprintf("%s(%d)", t, mod)
		}
	}
	return t.String()
}

func sleep(ctx context.Context, secs float64) error {
	if !(secs > 0) {
		return nil
	}
	t := time.NewTimer(time.Duration(min(secs, 1e9) * float64(time.Second)))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		if e, ok := sqlerr.As(context.Cause(ctx)); ok {
			return e
		}
		return sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request")
	}
}

// sizePretty shows a number of bytes in the largest unit that gives five digits at most.
func sizePretty(size types.Decimal) string {
	limit := types.DecimalFromInt64(10 * 1024)
	if size.Abs().Cmp(limit) < 0 {
		return size.String() + " bytes"
	}
	units := []string{"kB", "MB", "GB", "TB", "PB"}
	// Halves are kept until the end, where they round: the limit is then 20479.
	half := func(d types.Decimal) types.Decimal {
		q, _ := d.Quo(types.DecimalFromInt64(2))
		return q
	}
	v, _ := size.Quo(types.DecimalFromInt64(512))
	v = v.Trunc(0)
	max := types.DecimalFromInt64(20*1024 - 1)
	for i, u := range units {
		if v.Abs().Cmp(max) < 0 || i == len(units)-1 {
			one := types.DecimalFromInt64(1)
			if v.Sign() < 0 {
				one = one.Neg()
			}
			return half(v.Add(one)).String() + " " + u
		}
		v, _ = v.Quo(types.DecimalFromInt64(1024))
	}
	return ""
}

func sizeBytes(s string) (int64, error) {
	t := strings.TrimSpace(s)
	i := 0
	for i < len(t) && strings.IndexByte("0123456789.+-eE", t[i]) >= 0 {
		if (t[i] == 'e' || t[i] == 'E') && (i+1 >= len(t) || strings.IndexByte("0123456789+-", t[i+1]) < 0) {
			break
		}
		i++
	}
	bad := func() *sqlerr.Error { return sqlerr.New(sqlerr.InvalidParameterValue, "invalid size: \"%s\"", s) }
	d, err := types.ParseDecimal(t[:i])
	if err != nil || i == 0 || !d.IsFinite() {
		return 0, bad()
	}
	unit := strings.ToLower(strings.TrimSpace(t[i:]))
	power, ok := map[string]int{"": 0, "bytes": 0, "b": 0, "kb": 1, "mb": 2, "gb": 3, "tb": 4, "pb": 5}[unit]
	if !ok {
		return 0, bad().WithDetail("Invalid size unit: \"%s\".", strings.TrimSpace(t[i:])).
			WithHint("Valid units are \"bytes\", \"B\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".")
	}
	for ; power > 0; power-- {
		d = d.Mul(types.DecimalFromInt64(1024))
	}
	return d.ToInt(types.Int8)
}
