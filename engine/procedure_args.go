package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/maintain"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/timetravel"
	"github.com/lhsql/lhsql/types"
)

// procedureArgs are a call's arguments by name.
type procedureArgs struct {
	name    string
	vals    map[string]bind.Constant
	more    map[string][]bind.Constant // of parameters that may repeat
	rel     *bind.Relation             // the table of ALTER TABLE … EXECUTE
	call    *bind.ProcedureCall
	columns []string // of the table, in a statement that names them
	// result takes warnings.
	result *Result
}

// arguments gives a call's arguments their names.
func (p *procedure) arguments(name string, c *bind.ProcedureCall, rel *bind.Relation) (*procedureArgs, error) {
	params := p.params
	if rel != nil && params[0] == "table" {
		params = params[1:]
	}
	if c.Where != nil && !p.where {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "procedure %q takes no WHERE", name)
	}
	a := &procedureArgs{name: name, vals: map[string]bind.Constant{}, more: map[string][]bind.Constant{}, rel: rel, call: c}
	for i, v := range c.Args {
		k := strings.ToLower(v.Name)
		if k == "" {
			if i >= len(params) {
				return nil, sqlerr.New(sqlerr.UndefinedFunction, "procedure %q takes at most %d arguments", name, len(params))
			}
			k = params[i]
		}
		if !slices.Contains(params, k) {
			return nil, sqlerr.New(sqlerr.UndefinedFunction, "procedure %q has no argument %q", name, k).WithHint("Its arguments are: %s.", strings.Join(params, ", "))
		}
		if slices.Contains(p.repeats, k) {
			a.more[k] = append(a.more[k], v.Constant)
		} else if _, twice := a.vals[k]; twice {
			return nil, sqlerr.New(sqlerr.SyntaxError, "argument %q of procedure %q is given twice", k, name)
		}
		a.vals[k] = v.Constant
	}
	return a, nil
}

// text and number read a required argument.
func (a *procedureArgs) text(k string) (string, error) {
	v, ok := a.vals[k]
	if !ok || v.Value.IsNull() {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "procedure %q needs %s", a.name, k)
	}
	return types.Format(v.Value, v.Typ, nil), nil
}

func (a *procedureArgs) number(k string) (int64, error) {
	t, err := a.text(k)
	if err != nil {
		return 0, err
	}
	d, err := types.Parse(t, types.T(types.Int8), nil)
	if err != nil {
		return 0, err
	}
	return d.Int(), nil
}

// relation is the table, or a branch of it, that the procedure acts on.
func (a *procedureArgs) relation(ctx context.Context, s *Session) (*bind.Relation, error) {
	if a.rel != nil {
		return a.rel, s.mayCallOn(ctx, a.name, a.rel)
	}
	t, err := a.text("table")
	if err != nil {
		return nil, err
	}
	parts, ok := s.names().split(t)
	if !ok {
		return nil, sqlerr.New(sqlerr.InvalidName, "invalid name syntax: %s", t)
	}
	rel, err := relations{s}.Relation(ctx, bind.TableRef{Parts: parts, Write: true})
	if isNotFound(err) || err == nil && rel.Table == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "table %q does not exist", t)
	}
	if err != nil {
		return nil, err
	}
	return rel, s.mayCallOn(ctx, a.name, rel)
}

// table is the table that the procedure acts on.
func (a *procedureArgs) table(ctx context.Context, s *Session) (*lake.Table, error) {
	rel, err := a.relation(ctx, s)
	if err != nil {
		return nil, err
	}
	return rel.Table, nil
}

// given tells whether an argument is there and not NULL.
func (a *procedureArgs) given(k string) bool {
	v, ok := a.vals[k]
	return ok && !v.Value.IsNull()
}

// olderThan is an instant (older_than, as Spark has it) or an age (retention_threshold, as Trino has
// it); nil if neither is given.
func (a *procedureArgs) olderThan(ctx context.Context, s *Session) (*time.Time, error) {
	switch {
	case a.given("older_than") && a.given("retention_threshold"):
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "procedure %q takes either older_than or retention_threshold", a.name)
	case a.given("older_than"):
		t, err := a.instant("older_than", s.zone())
		return &t, err
	case a.given("retention_threshold"):
		text, err := a.text("retention_threshold")
		if err != nil {
			return nil, err
		}
		d, ok := maintain.ParseAge(text)
		if !ok {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid duration %q", text).WithHint("Write a number and a unit, like 7d, 12h or 30m.")
		}
		t := clock.Now(ctx).Add(-d)
		return &t, nil
	}
	return nil, nil
}

// instant reads a required argument that is a timestamp, or a text that says one; without a zone it
// is in the given one.
func (a *procedureArgs) instant(k string, zone *time.Location) (time.Time, error) {
	text, err := a.text(k)
	if err != nil {
		return time.Time{}, err
	}
	if v := a.vals[k]; v.Typ.Kind == types.TimestampTZ {
		text = types.Format(v.Value, v.Typ, nil)
	}
	pin, err := timetravel.ParsePin(text, zone)
	if err != nil || pin.Time.IsZero() {
		return time.Time{}, sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid timestamp %q for %s", text, k)
	}
	return pin.Time, nil
}

// count reads a required argument that is a number of things.
func (a *procedureArgs) count(k string) (int, error) {
	n, err := a.number(k)
	if err == nil && (n < 0 || n > 1<<31-1) {
		err = sqlerr.New(sqlerr.InvalidParameterValue, "%s cannot be %d", k, n)
	}
	return int(n), err
}

// flag reads an argument that is true or false; false if it is not given.
func (a *procedureArgs) flag(k string) (bool, error) {
	if !a.given(k) {
		return false, nil
	}
	text, err := a.text(k)
	if err != nil {
		return false, err
	}
	d, err := types.Parse(text, types.T(types.Bool), nil)
	if err != nil {
		return false, err
	}
	return d.Bool(), nil
}

// list reads an argument that is an array, or a text of items between commas; nil if it is not given.
func (a *procedureArgs) list(k string) ([]string, error) {
	if !a.given(k) {
		return nil, nil
	}
	v := a.vals[k]
	if v.Typ.Kind == types.Array {
		var out []string
		for _, e := range v.Value.List() {
			if e.IsNull() {
				return nil, sqlerr.New(sqlerr.NullNotAllowed, "%s cannot hold NULL", k)
			}
			out = append(out, types.Format(e, v.Typ.Elem(), nil))
		}
		return out, nil
	}
	text, err := a.text(k)
	return strings.FieldsFunc(strings.Trim(text, "{}[]"), func(r rune) bool { return r == ',' || r == ' ' }), err
}

// ids reads an argument that is a list of snapshot ids.
func (a *procedureArgs) ids(k string) ([]int64, error) {
	if !a.given(k) {
		return nil, nil
	}
	words, err := a.list(k)
	if err != nil {
		return nil, err
	}
	var out []int64
	for _, w := range words {
		d, err := types.Parse(w, types.T(types.Int8), nil)
		if err != nil {
			return nil, err
		}
		out = append(out, d.Int())
	}
	return out, nil
}

// options reads the argument options: map(key, value, …), or a JSON object as text.
func (a *procedureArgs) options() (map[string]string, error) {
	return a.texts("options", "option", "map('min-input-files', '2', …)")
}

// texts reads an argument that is a map of texts, or a JSON object as text. entry is what one of its keys
// is called, example how it is written.
func (a *procedureArgs) texts(arg, entry, example string) (map[string]string, error) {
	out := map[string]string{}
	if !a.given(arg) {
		return out, nil
	}
	v := a.vals[arg]
	bad := sqlerr.New(sqlerr.InvalidParameterValue, "argument %s of procedure %q is no map of texts", arg, a.name).
		WithHint("Write %s => %s.", arg, example)
	if v.Typ.Kind != types.Map {
		var obj map[string]any
		if json.Unmarshal([]byte(types.Format(v.Value, v.Typ, nil)), &obj) != nil {
			return nil, bad
		}
		for k, x := range obj {
			out[k] = fmt.Sprint(x)
		}
		return out, nil
	}
	for _, e := range v.Value.List() {
		kv := e.List()
		if kv[0].IsNull() || kv[1].IsNull() {
			return nil, bad
		}
		if _, twice := out[kv[0].Str()]; twice {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "%s %q is given twice", entry, kv[0].Str())
		}
		out[kv[0].Str()] = kv[1].Str()
	}
	return out, nil
}

// removal reads the arguments that all procedures have that remove files. What Spark streams is of no
// matter here: nothing is gathered at a driver.
func (a *procedureArgs) removal() (concurrent int, dry bool, err error) {
	if a.given("max_concurrent_deletes") {
		if concurrent, err = a.count("max_concurrent_deletes"); err != nil {
			return
		}
		if concurrent < 1 || concurrent > 1000 {
			return 0, false, sqlerr.New(sqlerr.InvalidParameterValue, "max_concurrent_deletes must be between 1 and 1000, not %d", concurrent)
		}
	}
	if _, err = a.flag("stream_results"); err != nil {
		return
	}
	dry, err = a.flag("dry_run")
	return
}
