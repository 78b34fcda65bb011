package pgfunc

import (
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/eval/regex"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// pathRun evaluates one path over one document.
type pathRun struct {
	c     *eval.Ctx
	steps int
	lax   bool
	doc   *types.JSONValue
	vars  *types.JSONValue
	// noVars: the operators take no variables, and every variable is null.
	noVars bool
	// zones: values with a time zone may be compared with ones without.
	zones bool
	dates map[*types.JSONValue]jsonDatetime
	last  []int // lengths of the arrays whose subscripts are being evaluated
}

// live ends a path that nobody waits for.
func (r *pathRun) live() {
	if r.steps++; r.steps&255 == 0 {
		r.c.MustLive()
	}
}

// items is a sequence of values.
type items []*types.JSONValue

func pathError(code, format string, args ...any) error {
	return sqlerr.New(sqlerr.Code(code), format, args...)
}

// isPathError tells the errors that silent mode suppresses: those of the data.
func isPathError(err error) bool {
	c := sqlerr.CodeOf(err)
	return strings.HasPrefix(string(c), "2203") || c == sqlerr.DivisionByZero || c == sqlerr.NumericOutOfRange ||
		c == sqlerr.InvalidDatetimeFormat || c == sqlerr.DatetimeOverflow || c == sqlerr.InvalidTimeZone
}

func jsonBool(b bool) *types.JSONValue { return &types.JSONValue{Kind: types.JSONBool, Bool: b} }
func jsonNumber(d types.Decimal) *types.JSONValue {
	return &types.JSONValue{Kind: types.JSONNumber, Text: d.String()}
}

// eval gives the sequence that n stands for; cur is @.
func (r *pathRun) eval(n *types.PathNode, cur *types.JSONValue) (items, error) {
	r.live()
	if n.IsPredicate() {
		switch t, err := r.test(n, cur); {
		case err != nil:
			return nil, err
		case t == 'u':
			return items{{Kind: types.JSONNull}}, nil
		default:
			return items{jsonBool(t == 't')}, nil
		}
	}
	switch n.Op {
	case "$":
		return items{r.doc}, nil
	case "@":
		return items{cur}, nil
	case "string":
		return items{{Kind: types.JSONString, Text: n.Text}}, nil
	case "number":
		return items{jsonNumber(n.Num)}, nil
	case "true", "false":
		return items{jsonBool(n.Op == "true")}, nil
	case "null":
		return items{{Kind: types.JSONNull}}, nil
	case "last":
		return items{jsonNumber(types.DecimalFromInt64(int64(r.last[len(r.last)-1] - 1)))}, nil
	case "var":
		if r.noVars {
			return items{{Kind: types.JSONNull}}, nil
		}
		if r.vars != nil {
			if v, ok := r.vars.Get(n.Text); ok {
				return items{v}, nil
			}
		}
		return nil, sqlerr.New(sqlerr.UndefinedObject, "could not find jsonpath variable \"%s\"", n.Text)
	case "+", "-", "*", "/", "%":
		return r.arithmetic(n, cur)
	case "u+", "u-":
		return r.sign(n, cur)
	}
	in, err := r.eval(n.Args[0], cur)
	if err != nil {
		return nil, err
	}
	var out items
	for _, v := range in {
		if out, err = r.access(n, v, cur, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// unwrap opens an array in lax mode.
func (r *pathRun) unwrap(v *types.JSONValue) items {
	if !r.lax || v.Kind != types.JSONArray {
		return items{v}
	}
	out := make(items, len(v.Items))
	for i := range v.Items {
		out[i] = &v.Items[i]
	}
	return out
}

// access applies one accessor to one value.
func (r *pathRun) access(n *types.PathNode, v, cur *types.JSONValue, out items) (items, error) {
	switch n.Op {
	case ".key":
		for _, x := range r.unwrap(v) {
			if x.Kind != types.JSONObject {
				if r.lax {
					continue
				}
				return nil, pathError("2203A", "jsonpath member accessor can only be applied to an object")
			}
			if m, ok := x.Get(n.Text); ok {
				out = room.Append(out, m)
			} else if !r.lax {
				return nil, pathError("2203A", "JSON object does not contain key \"%s\"", n.Text)
			}
		}
	case ".*":
		for _, x := range r.unwrap(v) {
			if x.Kind != types.JSONObject {
				if r.lax {
					continue
				}
				return nil, pathError("2203C", "jsonpath wildcard member accessor can only be applied to an object")
			}
			for i := range x.Items {
				out = append(out, &x.Items[i])
			}
		}
	case ".**":
		return descend(v, 0, n.Lo, n.Hi, out), nil
	case "[*]":
		if v.Kind != types.JSONArray {
			if r.lax {
				return append(out, v), nil
			}
			return nil, pathError("22039", "jsonpath wildcard array accessor can only be applied to an array")
		}
		for i := range v.Items {
			out = append(out, &v.Items[i])
		}
	case "[]":
		return r.subscripts(n, v, cur, out)
	case "?":
		for _, x := range r.unwrap(v) {
			t, err := r.test(n.Args[1], x)
			if err != nil {
				return nil, err
			}
			if t == 't' {
				out = room.Append(out, x)
			}
		}
	case "method":
		if n.Text == "type" {
			if d, ok := r.dates[v]; ok {
				return append(out, &types.JSONValue{Kind: types.JSONString, Text: types.T(d.kind).String()}), nil
			}
			return append(out, &types.JSONValue{Kind: types.JSONString, Text: jsonTypeof(string(v.AppendText(nil)))}), nil
		}
		if n.Text == "size" {
			if v.Kind != types.JSONArray {
				if !r.lax {
					return nil, pathError("22039", "jsonpath item method .size() can only be applied to an array")
				}
				return append(out, jsonNumber(types.DecimalFromInt64(1))), nil
			}
			return append(out, jsonNumber(types.DecimalFromInt64(int64(len(v.Items))))), nil
		}
		for _, x := range r.unwrap(v) {
			if n.Text == "datetime" {
				d, err := r.datetime(n, x)
				if err != nil {
					return nil, err
				}
				out = append(out, d)
				continue
			}
			m, err := method(n.Text, x)
			if err != nil {
				return nil, err
			}
			out = append(out, m...)
		}
	}
	return out, nil
}

// descend gives v and what is below it, between two depths.
func descend(v *types.JSONValue, depth, lo, hi int, out items) items {
	leaf := v.Kind != types.JSONArray && v.Kind != types.JSONObject
	if depth >= lo && lo >= 0 || lo < 0 && leaf {
		out = room.Append(out, v)
	}
	if hi >= 0 && depth >= hi {
		return out
	}
	for i := range v.Items {
		out = descend(&v.Items[i], depth+1, lo, hi, out)
	}
	return out
}

func (r *pathRun) subscripts(n *types.PathNode, v, cur *types.JSONValue, out items) (items, error) {
	list := items{v}
	if v.Kind == types.JSONArray {
		list = make(items, len(v.Items))
		for i := range v.Items {
			list[i] = &v.Items[i]
		}
	} else if !r.lax {
		return nil, pathError("22039", "jsonpath array accessor can only be applied to an array")
	}
	r.last = append(r.last, len(list))
	defer func() { r.last = r.last[:len(r.last)-1] }()
	for k := 1; k < len(n.Args); k += 2 {
		lo, err := r.subscript(n.Args[k], cur)
		if err != nil {
			return nil, err
		}
		hi := lo
		if n.Args[k+1] != nil {
			if hi, err = r.subscript(n.Args[k+1], cur); err != nil {
				return nil, err
			}
		}
		if !r.lax && (lo < 0 || lo > hi || hi >= int64(len(list))) {
			return nil, pathError("22033", "jsonpath array subscript is out of bounds")
		}
		for i := max(lo, 0); i <= min(hi, int64(len(list))-1); i++ {
			out = room.Append(out, list[i])
		}
	}
	return out, nil
}

func (r *pathRun) subscript(n *types.PathNode, cur *types.JSONValue) (int64, error) {
	d, ok, err := r.single(n, cur)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, pathError("22033", "jsonpath array subscript is not a single numeric value")
	}
	i, err := d.Trunc(0).ToInt(types.Int4)
	if err != nil {
		return 0, pathError("22033", "jsonpath array subscript is out of integer range")
	}
	return i, nil
}

// single evaluates n to one number.
func (r *pathRun) single(n *types.PathNode, cur *types.JSONValue) (types.Decimal, bool, error) {
	seq, err := r.eval(n, cur)
	if err != nil {
		return types.Decimal{}, false, err
	}
	if len(seq) == 1 {
		seq = r.unwrap(seq[0])
	}
	if len(seq) != 1 || seq[0].Kind != types.JSONNumber {
		return types.Decimal{}, false, nil
	}
	d, err := types.ParseDecimal(seq[0].Text)
	return d, true, err
}

func (r *pathRun) arithmetic(n *types.PathNode, cur *types.JSONValue) (items, error) {
	var v [2]types.Decimal
	for i, side := range []string{"left", "right"} {
		d, ok, err := r.single(n.Args[i], cur)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, pathError("22038", "%s operand of jsonpath operator %s is not a single numeric value", side, n.Op)
		}
		v[i] = d
	}
	var d types.Decimal
	var err error
	switch n.Op {
	case "+":
		d = v[0].Add(v[1])
	case "-":
		d = v[0].Sub(v[1])
	case "*":
		d = v[0].Mul(v[1])
	case "/":
		d, err = v[0].Div(v[1])
	default:
		d, err = v[0].Mod(v[1])
	}
	return items{jsonNumber(d)}, err
}

func (r *pathRun) sign(n *types.PathNode, cur *types.JSONValue) (items, error) {
	in, err := r.eval(n.Args[0], cur)
	if err != nil {
		return nil, err
	}
	var out items
	for _, v := range in {
		for _, x := range r.unwrap(v) {
			if x.Kind != types.JSONNumber {
				return nil, pathError("2203B", "operand of unary jsonpath operator %s is not a numeric value", n.Op[1:])
			}
			d, err := types.ParseDecimal(x.Text)
			if err != nil {
				return nil, err
			}
			if n.Op == "u-" {
				d = d.Neg()
			}
			out = room.Append(out, jsonNumber(d))
		}
	}
	return out, nil
}

func method(name string, v *types.JSONValue) (items, error) {
	if name == "double" {
		if v.Kind != types.JSONNumber && v.Kind != types.JSONString {
			return nil, pathError("22036", "jsonpath item method .double() can only be applied to a string or numeric value")
		}
		f, err := types.ParseFloat(v.Text, types.Float8)
		if err != nil || f-f != 0 {
			if v.Kind == types.JSONString {
				return nil, pathError("22036", "string argument of jsonpath item method .double() is not a valid representation of a double precision number")
			}
			return nil, pathError("22036", "numeric argument of jsonpath item method .double() is out of range for type double precision")
		}
		d, err := types.ParseDecimal(strconv.FormatFloat(f, 'g', -1, 64))
		return items{jsonNumber(d)}, err
	}
	if v.Kind != types.JSONNumber {
		return nil, pathError("22036", "jsonpath item method .%s() can only be applied to a numeric value", name)
	}
	d, err := types.ParseDecimal(v.Text)
	switch name {
	case "ceiling":
		d = d.Ceil()
	case "floor":
		d = d.Floor()
	case "abs":
		d = d.Abs()
	}
	return items{jsonNumber(d)}, err
}

// test is a predicate's truth: 't', 'f' or 'u'. Errors of the data inside make it unknown.
func (r *pathRun) test(n *types.PathNode, cur *types.JSONValue) (byte, error) {
	switch n.Op {
	case "&&", "||":
		a, err := r.test(n.Args[0], cur)
		decides := map[string]byte{"&&": 'f', "||": 't'}[n.Op]
		if err != nil || a == decides {
			return a, err
		}
		b, err := r.test(n.Args[1], cur)
		if err != nil || b == decides {
			return b, err
		}
		if a == 'u' || b == 'u' {
			return 'u', nil
		}
		return a, nil
	case "!":
		t, err := r.test(n.Args[0], cur)
		return map[byte]byte{'t': 'f', 'f': 't', 'u': 'u'}[t], err
	case "is unknown":
		t, err := r.test(n.Args[0], cur)
		return truth(t == 'u'), err
	case "exists":
		seq, err := r.eval(n.Args[0], cur)
		if err != nil {
			return unknown(err)
		}
		return truth(len(seq) > 0), nil
	case "==", "!=", "<", "<=", ">", ">=":
		var hard error
		t, err := r.pairs(n, cur, func(a, b *types.JSONValue) byte {
			x, dateA := r.dates[a]
			y, dateB := r.dates[b]
			if !dateA && !dateB {
				return comparePath(n.Op, a, b)
			}
			if dateA != dateB {
				if a.Kind == types.JSONNull || b.Kind == types.JSONNull {
					return truth(n.Op == "!=")
				}
				return 'u'
			}
			c, ok, err := r.compareDatetimes(x, y)
			if err != nil {
				hard = err
			}
			if !ok || err != nil {
				return 'u'
			}
			return ordered(n.Op, c)
		})
		if hard != nil {
			err = hard
		}
		return t, err
	case "starts with":
		return r.pairs(n, cur, func(a, b *types.JSONValue) byte {
			if a.Kind != types.JSONString || b.Kind != types.JSONString {
				return 'u'
			}
			return truth(strings.HasPrefix(a.Text, b.Text))
		})
	case "like_regex":
		flags := ""
		for _, f := range n.Text {
			switch f {
			case 'i', 'q', 'x':
				flags += string(f)
			case 's':
				flags = strings.ReplaceAll(flags, "p", "")
			case 'm':
				flags += "w"
			}
		}
		if !strings.ContainsAny(n.Text, "sm") {
			flags += "p"
		}
		re, err := regex.Compile(n.Args[1].Text, flags)
		if err != nil {
			return 'u', err
		}
		return r.pairs(n, cur, func(a, _ *types.JSONValue) byte {
			if a.Kind != types.JSONString {
				return 'u'
			}
			return truth(regex.Match(r.c, re, a.Text))
		})
	}
	// Any other expression as a predicate is one only when it gives a boolean.
	seq, err := r.eval(n, cur)
	if err != nil {
		return unknown(err)
	}
	if len(seq) == 1 && seq[0].Kind == types.JSONBool {
		return truth(seq[0].Bool), nil
	}
	return 'u', nil
}

func truth(b bool) byte {
	if b {
		return 't'
	}
	return 'f'
}

func unknown(err error) (byte, error) {
	if isPathError(err) {
		return 'u', nil
	}
	return 'u', err
}

// pairs tests every pair of two sequences: one that is true makes the predicate true, though
// in strict mode not against one that is unknown.
func (r *pathRun) pairs(n *types.PathNode, cur *types.JSONValue, test func(a, b *types.JSONValue) byte) (byte, error) {
	var side [2]items
	for i := range side {
		seq, err := r.eval(n.Args[i], cur)
		if err != nil {
			return unknown(err)
		}
		for _, v := range seq {
			side[i] = append(side[i], r.unwrap(v)...)
		}
	}
	if len(side[0])+len(side[1]) > 1000 {
		r.c.MustLive()
	}
	found, bad := false, false
	for _, a := range side[0] {
		for _, b := range side[1] {
			r.live()
			switch test(a, b) {
			case 'u':
				if !r.lax {
					return 'u', nil
				}
				bad = true
			case 't':
				if r.lax {
					return 't', nil
				}
				found = true
			}
		}
	}
	switch {
	case found:
		return 't', nil
	case bad:
		return 'u', nil
	}
	return 'f', nil
}

func comparePath(op string, a, b *types.JSONValue) byte {
	if a.Kind != b.Kind {
		if a.Kind == types.JSONNull || b.Kind == types.JSONNull {
			return truth(op == "!=") // null equals nothing else, and is not ordered
		}
		return 'u'
	}
	c := 0
	switch a.Kind {
	case types.JSONNull:
	case types.JSONBool, types.JSONNumber:
		c = types.CompareJSON(a, b)
	case types.JSONString:
		c = strings.Compare(a.Text, b.Text)
	default:
		return 'u'
	}
	return ordered(op, c)
}

// ordered tells whether op holds of two values that compare as c says.
func ordered(op string, c int) byte {
	switch op {
	case "==":
		return truth(c == 0)
	case "!=":
		return truth(c != 0)
	case "<":
		return truth(c < 0)
	case "<=":
		return truth(c <= 0)
	case ">":
		return truth(c > 0)
	}
	return truth(c >= 0)
}
