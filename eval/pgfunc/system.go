package pgfunc

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// Functions of the session and of the system: PostgreSQL's chapters 9.26 and 9.27. What they
// say of catalogs and of other sessions comes from the Session; a function that it does not
// answer gives what PostgreSQL gives for an object that does not exist.
func registerSystem() {
	const text, name, oid, i4, i8, b = types.Text, types.Name, types.Oid, types.Int4, types.Int8, types.Bool
	for _, n := range []string{"current_user", "session_user", "user", "current_role"} {
		eval.Register(eval.Stable(n, nil, eval.TName, eval.Ask0(func(c *eval.Ctx) (string, error) {
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
		eval.Register(eval.Stable(n, nil, eval.TName, eval.Ask0(func(c *eval.Ctx) (string, error) {
			s, err := session(c)
			if err != nil {
				return "", err
			}
			return s.Database(), nil
		})))
	}
	eval.Register(
		eval.Stable("current_schema", nil, eval.TName, eval.Row(currentSchema)),
		eval.Stable("current_schemas", eval.Sig(b), types.ArrayOf(eval.TName), eval.Row(currentSchemas)),
		eval.Stable("current_setting", eval.Sig(text), eval.TText, eval.Row(currentSetting)),
		eval.Stable("current_setting", eval.Sig(text, b), eval.TText, eval.Row(currentSetting)),
		eval.Volatile("set_config", eval.Sig(text, text, b), eval.TText, eval.Row(setConfig)).CalledOnNull(),
		eval.Volatile("lastval", nil, eval.TInt8, eval.Ask0(func(c *eval.Ctx) (int64, error) {
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
		eval.Stable("pg_backend_pid", nil, eval.TInt4, eval.Ask0(func(c *eval.Ctx) (int32, error) {
			s, err := session(c)
			if err != nil {
				return 0, err
			}
			return s.BackendPID(), nil
		})),
		eval.Stable("version", nil, eval.TText, asked("version", types.NewStr("PostgreSQL 15.18 (lhsql)"))),
		eval.Stable("pg_typeof", eval.Sig(types.Any), types.T(types.Regtype), typed(func(_ *eval.Ctx, _ []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
			return types.NewInt(int64(t[0].OID())), nil
		})).CalledOnNull(),
		eval.Stable("format_type", eval.Sig(oid, i4), eval.TText, eval.Row(formatType)).CalledOnNull(),
		eval.Stable("pg_get_userbyid", eval.Sig(oid), eval.TName, eval.Row(func(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
			if s, err := session(c); err == nil {
				if n, ok := s.ObjectName("pg_authid", uint32(a[0].Int())); ok {
					return types.NewStr(n), nil
				}
			}
			return types.NewStr(fmt.Sprintf("unknown (OID=%d)", a[0].Int())), nil
		})),
		eval.Immutable("pg_encoding_to_char", eval.Sig(i4), eval.TName, eval.Fn1(func(i int64) string {
			return map[int64]string{0: "SQL_ASCII", 6: "UTF8", 8: "LATIN1"}[i]
		})).NeverFails(),
		eval.Immutable("pg_char_to_encoding", eval.Sig(name), eval.TInt4, eval.Fn1(func(s string) int64 {
			if i, ok := map[string]int64{"sql_ascii": 0, "utf8": 6, "latin1": 8}[encodingOf(s)]; ok {
				return i
			}
			return -1
		})).NeverFails(),
		eval.Stable("pg_client_encoding", nil, eval.TName, eval.Ask0(func(c *eval.Ctx) (string, error) {
			if s, err := session(c); err == nil {
				if v, ok := s.Setting("client_encoding"); ok {
					return v, nil
				}
			}
			return "UTF8", nil
		})),
		eval.Stable("getdatabaseencoding", nil, eval.TName, eval.Ask0(func(*eval.Ctx) (string, error) { return "UTF8", nil })),
		eval.Immutable("pg_collation_for", eval.Sig(types.Any), eval.TText, typed(func(_ *eval.Ctx, _ []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
			if t[0].IsString() {
				return types.NewStr(`"default"`), nil
			}
			return types.Null, sqlerr.New(sqlerr.DatatypeMismatch, "collations are not supported by type %s", t[0])
		})).CalledOnNull(),
		eval.Volatile("pg_sleep", eval.Sig(types.Float8), eval.TVoid, eval.Ask1(func(c *eval.Ctx, secs float64) (types.Datum, error) {
			return types.NewStr(""), sleep(callContext(c), secs)
		})),
		eval.Volatile("mysql:sleep", eval.Sig(types.Float8), eval.TInt4, eval.Row(func(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
			if a[0].IsNull() || !(a[0].Float() >= 0) {
				return types.Null, sqlerr.New(sqlerr.InvalidParameterValue, "Incorrect arguments to sleep.")
			}
			return types.NewInt(0), sleep(callContext(c), a[0].Float())
		})).CalledOnNull(),
		eval.Immutable("pg_size_pretty", eval.Sig(i8), eval.TText, eval.Fn1(func(v int64) string { return sizePretty(types.DecimalFromInt64(v)) })).NeverFails(),
		eval.Immutable("pg_size_pretty", eval.Sig(types.Numeric), eval.TText, eval.Fn1(sizePretty)).NeverFails(),
		eval.Immutable("pg_size_bytes", eval.Sig(text), eval.TInt8, eval.Try1(sizeBytes)),
	)
	for _, kind := range []types.Kind{types.Regclass, types.Regtype, types.Regproc, types.Regnamespace, types.Regrole,
		types.Regprocedure, types.Regoper, types.Regoperator} {
		eval.Register(eval.Stable("to_"+types.T(kind).String(), eval.Sig(text), types.T(kind), eval.Row(func(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
			s, err := session(c)
			if err != nil {
				return types.Null, err
			}
			if oid, ok := s.ObjectOID(eval.RegCatalog(kind), a[0].Str()); ok {
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
func session(c *eval.Ctx) (eval.Session, error) {
	if c == nil || c.Session == nil {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "this function needs a session")
	}
	return c.Session, nil
}

func callContext(c *eval.Ctx) context.Context {
	if c == nil || c.Context == nil {
		return context.Background()
	}
	return c.Context
}

// asked makes a function that the session answers; fallback is its value where it does not.
func asked(name string, fallback types.Datum) eval.Row {
	return func(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
		if s, err := session(c); err == nil {
			if v, ok, err := s.Call(callContext(c), name, a); ok || err != nil {
				return v, err
			}
		}
		return fallback, nil
	}
}

// currentSchema is the first schema of the search path that was asked for by name.
func currentSchema(c *eval.Ctx, _ []types.Datum) (types.Datum, error) {
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

func currentSchemas(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
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

func currentSetting(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
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

func setConfig(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
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
func formatType(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
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
