package pgfunc

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// The functions on SQL/JSON paths.
func registerJsonpath() {
	args := []types.Type{eval.TJSONB, eval.TJSONPath, eval.TJSONB, eval.TBool}
	register := func(name string, ret types.Type, impl eval.Row) {
		registerPrefixes(name, 2, args, ret, impl)
		// The same with the session's time zone, where one is needed.
		zoned := eval.Row(func(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
			return impl(c, withZones(a))
		})
		for n := 2; n <= len(args); n++ {
			eval.Register(eval.Stable(name+"_tz", args[:n:n], ret, zoned))
		}
	}
	register("jsonb_path_exists", eval.TBool, pathExists)
	register("jsonb_path_match", eval.TBool, pathMatch)
	register("jsonb_path_query_array", eval.TJSONB, pathQueryArray)
	register("jsonb_path_query_first", eval.TJSONB, pathQueryFirst)
	registerPrefixes("jsonb_path_query", 2, args, eval.TJSONB, eval.SetKernel(pathQuery))
	zoned := eval.SetKernel(func(c *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
		return pathQuery(c, withZones(a), yield)
	})
	for n := 2; n <= len(args); n++ {
		eval.Register(eval.Stable("jsonb_path_query_tz", args[:n:n], eval.TJSONB, zoned))
	}
	quiet := func(f eval.Row) eval.Row {
		return func(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
			return f(c, []types.Datum{a[0], a[1], types.Null, types.NewBool(true), types.NewBool(true)})
		}
	}
	eval.Register(
		eval.Op("@?", eval.Sig(types.JSONB, types.JSONPath), eval.TBool, quiet(pathExists)),
		eval.Op("@@", eval.Sig(types.JSONB, types.JSONPath), eval.TBool, quiet(pathMatch)),
	)
}

func withZones(a []types.Datum) []types.Datum {
	a = padArgs(a, 6)
	a[5] = types.NewBool(true)
	return a
}

// runPath evaluates a path: document, path, variables, silent. failed: an error of the data was
// suppressed. A fifth argument that is true marks the operators, a sixth the functions with _tz.
func runPath(c *eval.Ctx, a []types.Datum) (seq items, failed bool, err error) {
	e, err := types.CompileJSONPath(a[1].Str())
	if err != nil {
		return nil, false, err
	}
	doc, err := types.ParseJSON(a[0].Str(), c.MustLive)
	if err != nil {
		return nil, false, err
	}
	r := pathRun{c: c, lax: e.Lax, doc: &doc, noVars: len(a) > 4 && !a[4].IsNull(), zones: len(a) > 5}
	if !a[2].IsNull() {
		vars, err := types.ParseJSON(a[2].Str())
		if err != nil {
			return nil, false, err
		}
		if vars.Kind != types.JSONObject {
			return nil, false, sqlerr.New(sqlerr.InvalidParameterValue, "\"vars\" argument is not an object").
				WithDetail("Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.")
		}
		r.vars = &vars
	}
	seq, err = r.eval(e.Root, &doc)
	if err != nil && !a[3].IsNull() && a[3].Bool() && isPathError(err) {
		return nil, true, nil
	}
	return seq, false, err
}

func pathExists(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	seq, failed, err := runPath(c, a)
	if err != nil || failed {
		return types.Null, err
	}
	return types.NewBool(len(seq) > 0), nil
}

func pathMatch(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	seq, failed, err := runPath(c, a)
	if err != nil || failed {
		return types.Null, err
	}
	if len(seq) == 1 {
		switch seq[0].Kind {
		case types.JSONBool:
			return types.NewBool(seq[0].Bool), nil
		case types.JSONNull:
			return types.Null, nil
		}
	}
	if !a[3].IsNull() && a[3].Bool() {
		return types.Null, nil
	}
	return types.Null, pathError("22038", "single boolean result is expected")
}

func pathQuery(c *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
	seq, _, err := runPath(c, a)
	if err != nil {
		return err
	}
	for _, v := range seq {
		if err := yield(types.NewStr(string(v.AppendText(nil)))); err != nil {
			return err
		}
	}
	return nil
}

func pathQueryArray(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	seq, _, err := runPath(c, a)
	out := types.JSONValue{Kind: types.JSONArray}
	for _, v := range seq {
		out.Items = append(out.Items, *v)
	}
	return types.NewStr(string(out.AppendText(nil))), err
}

func pathQueryFirst(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	seq, _, err := runPath(c, a)
	if err != nil || len(seq) == 0 {
		return types.Null, err
	}
	return types.NewStr(string(seq[0].AppendText(nil))), nil
}
