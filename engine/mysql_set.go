package engine

import (
	"context"

	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// setVariables is SET. MySQL sets all or nothing; the values are computed first, which is where most
// fail.
func (m *MySQL) setVariables(ctx context.Context, n *ast.SetVariables, r *Result) error {
	values := make([]userVariable, len(n.Items))
	for i, it := range n.Items {
		if it.Value == nil {
			continue
		}
		var err error
		if values[i], err = m.value(ctx, it.Value); err != nil {
			return err
		}
	}
	for i, it := range n.Items {
		if err := m.assign(ctx, r, it, values[i]); err != nil {
			return err
		}
	}
	return nil
}

func (m *MySQL) assign(ctx context.Context, r *Result, it ast.SetVariable, v userVariable) error {
	global := it.Scope == "global"
	switch {
	case it.Scope == "names":
		return m.setNames(ctx, r, it.Word, it.Name)
	case it.Scope == "user":
		return m.keep(it.Name, v)
	case it.Default:
		return m.set(ctx, r, it.Name, nil, global)
	}
	text := it.Word
	if it.Value != nil && !v.value.IsNull() {
		text = m.textOf(v)
	}
	return m.set(ctx, r, it.Name, &text, global)
}

// keep gives a user variable a value.
func (m *MySQL) keep(name string, v userVariable) error {
	if v.typ.Kind == types.Unknown {
		v.typ = types.T(types.Text)
	}
	if _, has := m.user[name]; !has && len(m.user) >= maxUserVariables {
		return mysqlError(1041, "HY000", "A session can have at most %d variables", maxUserVariables)
	}
	m.user[name] = v
	return nil
}

// maxUserVariables bounds what a session can keep in @variables.
const maxUserVariables = 10_000

// textOf is a single value's text as MySQL's clients see it.
func (m *MySQL) textOf(v userVariable) string {
	if v.typ.Kind == types.Bool {
		if v.value.Bool() {
			return "1"
		}
		return "0"
	}
	return string(types.AppendText(nil, v.value, v.typ, m.s.TextOptions()))
}

func (m *MySQL) setNames(ctx context.Context, r *Result, charset, collation string) error {
	cs, err := checkCharset(charset)
	if err != nil {
		return err
	}
	if collation == "" {
		collation = map[string]string{"utf8mb4": "utf8mb4_0900_ai_ci", "utf8mb3": "utf8mb3_general_ci", "binary": "binary", "ascii": "ascii_general_ci"}[cs]
	}
	for _, kv := range [][2]string{{"collation_connection", collation}, {"character_set_client", cs}, {"character_set_connection", cs}, {"character_set_results", cs}} {
		if err := m.set(ctx, r, kv[0], &kv[1], false); err != nil {
			return err
		}
	}
	return nil
}

// setTransaction is SET [SESSION|GLOBAL] TRANSACTION. Without a scope it is meant for the next
// transaction alone.
func (m *MySQL) setTransaction(ctx context.Context, n *ast.SetTransaction, r *Result) error {
	if n.Scope == "" {
		if m.s.Status() != 'I' {
			return mysqlError(1568, "25001", "Transaction characteristics can't be changed while a transaction is in progress")
		}
		m.next = append(m.next, n.Modes...)
		return nil
	}
	for _, kv := range n.Modes {
		if err := m.set(ctx, r, kv[0], &kv[1], n.Scope == "global"); err != nil {
			return err
		}
	}
	return nil
}
