package mysqlfunc

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// JSONTable says what MySQL's JSON_TABLE makes of a document: the rows that a path reaches, and
// of each its columns. It travels as text, the second argument of mysql:json_table.
type JSONTable struct {
	Path    string
	Columns []JSONTableColumn
}

// JSONTableColumn is one column, or with Nested the columns of further rows below each row.
type JSONTableColumn struct {
	Name    string
	Kind    JSONTableKind
	Path    string
	Chars   int // CHAR(n): the longest value; 0: any
	Empty   JSONTableElse
	Error   JSONTableElse
	Nested  []JSONTableColumn
	columns int // its own and those of its nested ones
	at      int // the first of them in the row
	legs    []leg
}

// JSONTableKind is what a column of JSON_TABLE shows.
type JSONTableKind string

const (
	JSONTableOrdinal JSONTableKind = "ordinal"
	JSONTablePath    JSONTableKind = "path"
	JSONTableExists  JSONTableKind = "exists"
	JSONTableNested  JSONTableKind = "nested"
)

// JSONTableElse is what stands for a value that is not there or does not fit: NULL, a default, or
// an error.
type JSONTableElse struct {
	Fail    bool
	Default *string // JSON text
}

func registerJsonTable() {
	eval.Register(eval.Func{Name: "mysql:json_table", Args: []types.Type{eval.TJSONB, eval.TText}, Ret: eval.TRecord, Volatility: plan.Stable,
		SetOf: func(t types.Type) eval.SetKernel {
			return func(c *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
				return jsonTable(c, a, t.Fields(), yield)
			}
		}})
}

// jsonTabling makes the rows of one document.
type jsonTabling struct {
	opts   *types.TextOptions
	fields []types.Field
	row    []types.Datum
	yield  func(types.Datum) error
}

func jsonTable(c *eval.Ctx, a []types.Datum, fields []types.Field, yield func(types.Datum) error) error {
	if a[0].IsNull() {
		return nil
	}
	var spec JSONTable
	if err := json.Unmarshal([]byte(a[1].Str()), &spec); err != nil {
		return err
	}
	if _, err := placeColumns(spec.Columns, 0); err != nil {
		return err
	}
	legs, _, err := parsePath(spec.Path)
	if err != nil {
		return err
	}
	doc, err := types.ParseJSON(a[0].Str())
	if err != nil {
		return err
	}
	t := &jsonTabling{opts: eval.SessionText(c), fields: fields, row: make([]types.Datum, len(fields)), yield: yield}
	_, err = t.rows(&doc, legs, spec.Columns, t.emit)
	return err
}

// placeColumns gives each column its place in the row and its path's legs.
func placeColumns(cols []JSONTableColumn, at int) (int, error) {
	for i := range cols {
		c := &cols[i]
		c.at = at
		if c.Kind != JSONTableOrdinal {
			var err error
			if c.legs, _, err = parsePath(c.Path); err != nil {
				return 0, err
			}
		}
		if c.Kind != JSONTableNested {
			at++
			continue
		}
		next, err := placeColumns(c.Nested, at)
		if err != nil {
			return 0, err
		}
		c.columns, at = next-at, next
	}
	return at, nil
}

func (t *jsonTabling) emit() error {
	return t.yield(types.NewStruct(append([]types.Datum(nil), t.row...)))
}

// rows makes a row for each value that the path reaches from v, and tells how many.
func (t *jsonTabling) rows(v *types.JSONValue, legs []leg, cols []JSONTableColumn, emit func() error) (n int64, err error) {
	follow(v, legs, func(x *types.JSONValue) {
		if err == nil {
			n++
			err = t.one(x, n, cols, emit)
		}
	})
	return n, err
}

// one makes the rows of one value: one for each row of each nested path, with the columns of the
// other nested paths NULL; a single one where no nested path has rows.
func (t *jsonTabling) one(v *types.JSONValue, n int64, cols []JSONTableColumn, emit func() error) error {
	for i := range cols {
		if err := t.column(v, n, &cols[i]); err != nil {
			return err
		}
	}
	below := int64(0)
	for i := range cols {
		c := &cols[i]
		if c.Kind != JSONTableNested {
			continue
		}
		k, err := t.rows(v, c.legs, c.Nested, emit)
		if err != nil {
			return err
		}
		below += k
		t.clear(c)
	}
	if below > 0 {
		return nil
	}
	return emit()
}

// clear makes the columns of a nested path NULL.
func (t *jsonTabling) clear(c *JSONTableColumn) {
	for i := c.at; i < c.at+c.columns; i++ {
		t.row[i] = types.Null
	}
}

func (t *jsonTabling) column(v *types.JSONValue, n int64, c *JSONTableColumn) (err error) {
	switch c.Kind {
	case JSONTableOrdinal:
		t.row[c.at] = types.NewInt(n)
	case JSONTableNested:
		t.clear(c)
	case JSONTableExists:
		there := int64(0)
		follow(v, c.legs, func(*types.JSONValue) { there = 1 })
		one := types.JSONValue{Kind: types.JSONNumber, Text: map[int64]string{0: "0", 1: "1"}[there]}
		t.row[c.at], err = t.value(&one, c)
	default:
		t.row[c.at], err = t.at(v, c)
	}
	return err
}

// at is what a column's path reaches: several values are an array.
func (t *jsonTabling) at(v *types.JSONValue, c *JSONTableColumn) (types.Datum, error) {
	var found []types.JSONValue
	follow(v, c.legs, func(x *types.JSONValue) { found = append(found, *x) })
	if len(found) == 0 {
		if c.Empty.Fail {
			return types.Null, sqlerr.New(sqlerr.DataException, "Missing value for JSON_TABLE column '%s'", c.Name)
		}
		return t.defaultOf(c, c.Empty)
	}
	x := &found[0]
	if len(found) > 1 {
		x = &types.JSONValue{Kind: types.JSONArray, Items: found}
	}
	d, err := t.value(x, c)
	if err != nil && !c.Error.Fail {
		return t.defaultOf(c, c.Error)
	}
	return d, err
}

func (t *jsonTabling) defaultOf(c *JSONTableColumn, e JSONTableElse) (types.Datum, error) {
	if e.Default == nil {
		return types.Null, nil
	}
	v, err := types.ParseJSON(*e.Default)
	if err != nil {
		return types.Null, err
	}
	return t.value(&v, c)
}

// value converts a JSON value to the column's type. Strict: what does not fit is an error.
func (t *jsonTabling) value(v *types.JSONValue, c *JSONTableColumn) (types.Datum, error) {
	typ := t.fields[c.at].Type
	switch {
	case typ.Kind == types.JSONB:
		return jsonDatum(*v)
	case v.Kind == types.JSONNull:
		return types.Null, nil
	case v.Kind == types.JSONArray, v.Kind == types.JSONObject:
		return types.Null, sqlerr.New(sqlerr.DataException, "Can't store an array or an object in the scalar column '%s' of JSON_TABLE", c.Name)
	}
	text := v.Text
	if v.Kind == types.JSONBool {
		text = map[bool]string{true: "true", false: "false"}[v.Bool]
		if !typ.IsString() && typ.Kind != types.Bool {
			text = map[bool]string{true: "1", false: "0"}[v.Bool]
		}
	}
	switch typ.Kind {
	case types.Int2, types.Int4, types.Int8:
		d, err := types.ParseDecimal(text)
		if err != nil {
			return types.Null, err
		}
		i, err := d.Round(0).ToInt(typ.Kind)
		return types.NewInt(i), err
	case types.Bool:
		d, err := types.ParseDecimal(text)
		if err != nil {
			return types.Parse(text, typ, t.opts)
		}
		return types.NewBool(d.Sign() != 0), nil
	case types.Date, types.Timestamp:
		d := textDate(text)
		if typ.Kind == types.Timestamp {
			d = textDatetime(text)
		}
		if d.IsNull() {
			return d, sqlerr.New(sqlerr.InvalidDatetimeFormat, "Incorrect %s value: '%s' for column '%s'", strings.ToLower(typ.String()), text, c.Name)
		}
		return d, nil
	}
	if c.Chars > 0 && utf8.RuneCountInString(text) > c.Chars {
		return types.Null, sqlerr.New(sqlerr.StringTooLong, "Data too long for column '%s'", c.Name)
	}
	return types.Parse(text, typ, t.opts)
}
