package pgfunc

import (
	"strconv"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// Rows out of JSON objects: json_to_record and its kin. The members of an object become values by
// way of their types' text input; json members keep their text.

func registerJsonRecord() {
	for _, j := range []struct {
		t types.Type
		n string
	}{{eval.TJSON, "json"}, {eval.TJSONB, "jsonb"}} {
		t, b := j.t, j.n == "jsonb"
		populated := func(name string) func([]types.Type) (types.Type, error) {
			return func(args []types.Type) (types.Type, error) {
				if args[0].Kind == types.Struct {
					return args[0], nil
				}
				return types.Type{}, sqlerr.New(sqlerr.DatatypeMismatch, "first argument of %s must be a row type", name)
			}
		}
		toSet, popSet, pop := j.n+"_to_recordset", j.n+"_populate_recordset", j.n+"_populate_record"
		eval.Register(
			eval.Stable(j.n+"_to_record", []types.Type{t}, eval.TRecord, eval.Kernel(eval.RowKernelTyped(toRecord(j.n+"_to_record")))),
			eval.Stable(pop, []types.Type{eval.TAnyElement, t}, eval.TRecord, eval.Kernel(eval.RowKernelTyped(populateRecord))).
				Returning(populated(pop)).CalledOnNull(),
			eval.Func{Name: toSet, Args: []types.Type{t}, Ret: eval.TRecord, Volatility: plan.Stable,
				SetOf: recordSet(toSet, b, false)},
			eval.Func{Name: popSet, Args: []types.Type{eval.TAnyElement, t}, Ret: eval.TRecord, Volatility: plan.Stable,
				RetFn: populated(popSet), NonStrict: true, SetOf: recordSet(popSet, b, true)},
		)
	}
}

func toRecord(name string) func(c *eval.Ctx, a []types.Datum, t types.Type) (types.Datum, error) {
	return func(c *eval.Ctx, a []types.Datum, t types.Type) (types.Datum, error) {
		if err := recordKnown(name, t); err != nil {
			return types.Null, err
		}
		if err := types.CheckJSONEscapes(a[0].Str()); err != nil {
			return types.Null, err
		}
		return recordOf(a[0].Str(), t, nil, eval.SessionText(c))
	}
}

// populateRecord is the row a[0] with the members that a[1] has replaced.
func populateRecord(c *eval.Ctx, a []types.Datum, t types.Type) (types.Datum, error) {
	if a[1].IsNull() {
		return a[0], nil
	}
	if err := types.CheckJSONEscapes(a[1].Str()); err != nil {
		return types.Null, err
	}
	return recordOf(a[1].Str(), t, membersOf(a[0]), eval.SessionText(c))
}

func membersOf(row types.Datum) []types.Datum {
	if row.IsNull() {
		return nil
	}
	return row.List()
}

// recordKnown refuses a row type without members: the call stands where nothing names them.
func recordKnown(name string, t types.Type) error {
	if len(t.Fields()) > 0 {
		return nil
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "could not determine row type for result of %s", name).
		WithHint("Provide a non-null record argument, or call the function in the FROM clause using a column definition list.")
}

// recordSet makes the rows of an array of objects; with base, the first argument is the row that
// gives the members that an object lacks.
func recordSet(name string, b, base bool) func(t types.Type) eval.SetKernel {
	return func(t types.Type) eval.SetKernel {
		return func(c *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
			if err := recordKnown(name, t); err != nil {
				return err
			}
			j := a[len(a)-1]
			if j.IsNull() {
				return nil
			}
			var defaults []types.Datum
			if base {
				defaults = membersOf(a[0])
			}
			o := eval.SessionText(c)
			var err error
			ok := jsonItems(j.Str(), func(v string) bool {
				if jsonTypeof(v) != "object" {
					err = errJSON("argument of %s must be an array of objects", name)
					return false
				}
				var row types.Datum
				if row, err = recordOf(v, t, defaults, o); err == nil {
					err = yield(row)
				}
				return err == nil
			})
			switch {
			case ok:
				return err
			case b:
				return errJSON("cannot call %s on a non-array", name)
			case jsonTypeof(j.Str()) == "object":
				return errJSON("cannot call %s on an object", name)
			}
			return errJSON("cannot call %s on a scalar", name)
		}
	}
}

// recordOf makes a row of type t of an object's text. base gives the members that it lacks; nil:
// they are NULL.
func recordOf(s string, t types.Type, base []types.Datum, o *types.TextOptions) (types.Datum, error) {
	fields := t.Fields()
	found := make([]string, len(fields)) // no value is the empty text
	ok := jsonMembers(s, func(k, v string) bool {
		k = jsonString(k)
		for i := range fields {
			if fields[i].Name == k {
				found[i] = v // the last of equal keys counts
			}
		}
		return true
	})
	if !ok {
		kind := "a scalar"
		if jsonTypeof(s) == "array" {
			kind = "an array"
		}
		return types.Null, errJSON("cannot call populate_composite on %s", kind)
	}
	row := make([]types.Datum, len(fields))
	copy(row, base)
	for i, v := range found {
		if v == "" {
			continue
		}
		var err error
		if row[i], err = memberOf(v, fields[i].Type, fields[i].Name, o); err != nil {
			return types.Null, err
		}
	}
	return types.NewStruct(row), nil
}

// memberOf makes a value of type t of a JSON value's text; key says where it stood.
func memberOf(v string, t types.Type, key string, o *types.TextOptions) (types.Datum, error) {
	kind := jsonTypeof(v)
	switch {
	case kind == "null":
		return types.Null, nil
	case t.Kind == types.JSON:
		return types.NewStr(v), nil
	case t.Kind == types.Variant:
		return types.Parse(v, t, o)
	case t.Kind == types.JSONB:
		s, err := types.CanonicalJSON(v)
		return types.NewStr(s), err
	case kind == "string":
		return types.Parse(jsonString(v), t, o)
	case t.Kind == types.Array:
		return listOf(v, t, key, o)
	case t.Kind == types.Struct:
		return recordOf(v, t, nil, o)
	case t.Kind == types.Map:
		p, err := types.ParseJSON(v)
		if err != nil {
			return types.Null, err
		}
		return types.FromJSON(&p, t, o)
	}
	return types.Parse(v, t, o)
}

// listOf makes an array of a JSON array's text.
func listOf(v string, t types.Type, key string, o *types.TextOptions) (types.Datum, error) {
	var list []types.Datum
	var err error
	ok := jsonItems(v, func(e string) bool {
		var d types.Datum
		d, err = memberOf(e, t.Elem(), key, o)
		list = append(list, d)
		return err == nil
	})
	if !ok {
		return types.Null, sqlerr.New(sqlerr.InvalidTextRepresentation, "expected JSON array").
			WithHint("See the value of key %s.", strconv.Quote(key))
	}
	return types.NewList(list), err
}
