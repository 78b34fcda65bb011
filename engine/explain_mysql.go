package engine

import (
	"bytes"
	"encoding/json"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/types"
)

// MySQL's forms of EXPLAIN. FORMAT=TREE is the text in one row, as MySQL's clients expect it;
// without FORMAT it comes line by line, which reads better in a terminal.

// traditionalColumns are those of FORMAT=TRADITIONAL.
var traditionalColumns = []ResultColumn{
	{Name: "id", Type: types.T(types.Int8)}, {Name: "select_type", Type: types.T(types.Text)},
	{Name: "table", Type: types.T(types.Text)}, {Name: "partitions", Type: types.T(types.Text)},
	{Name: "type", Type: types.T(types.Text)}, {Name: "possible_keys", Type: types.T(types.Text)},
	{Name: "key", Type: types.T(types.Text)}, {Name: "key_len", Type: types.T(types.Text)},
	{Name: "ref", Type: types.T(types.Text)}, {Name: "rows", Type: types.T(types.Int8)},
	{Name: "filtered", Type: types.T(types.Float8)}, {Name: "Extra", Type: types.T(types.Text)},
}

// traditionalRows has a row for each table. There are no keys: all are read by scanning what
// pruning leaves of their files.
func traditionalRows(n plan.Node) [][]types.Datum {
	var rows [][]types.Datum
	for _, a := range planner.ExplainTables(n) {
		row := make([]types.Datum, len(traditionalColumns))
		row[0], row[1], row[11] = types.NewInt(1), types.NewStr(a.Select), types.NewStr(a.Extra)
		if a.Extra == "" {
			row[11] = types.Null
		}
		if a.Table != "" {
			row[2], row[4] = types.NewStr(a.Table), types.NewStr("ALL")
			row[9], row[10] = types.NewInt(a.Rows), types.NewFloat(float64(int64(a.Filtered*100+0.5))/100)
		}
		rows = append(rows, row)
	}
	return rows
}

// queryBlock wraps the plan that FORMAT JSON gives in the object that MySQL's clients look for.
func queryBlock(text string) (string, error) {
	var plans []json.RawMessage
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		return "", err
	}
	block := append([]byte(`{"query_block": {"select_id": 1, `), bytes.TrimLeft(plans[0][1:], " \n")...)
	var out bytes.Buffer
	err := json.Indent(&out, append(block, '}'), "", "  ")
	return out.String(), err
}
