package mysql

import (
	"strings"

	"github.com/lhsql/lhsql/types"
)

// sqlPrepare serves PREPARE name FROM 'text' or @variable.
func (c *conn) sqlPrepare(p *piece) (*local, error) {
	if len(p.toks) != 4 || !p.toks[1].isName() || p.word(2) != "from" {
		return nil, nearError(p.text, p.toks[min(1, len(p.toks)-1)].pos)
	}
	name := strings.ToLower(p.toks[1].value)
	return &local{run: func() error {
		text := p.toks[3].value
		switch p.toks[3].kind {
		case tokString:
		case tokVariable:
			u := c.vars.user[strings.ToLower(text)]
			text = string(textOf(u.value, u.typ, c.sess.TextOptions()))
			if u.value.IsNull() {
				text = "NULL"
			}
		default:
			return nearError(p.text, p.toks[3].pos)
		}
		list := c.cut(text)
		if len(list) != 1 {
			return nearError(text, 0)
		}
		if len(c.sqlStmts) >= maxStatements {
			return wireError(1461, "42000", "Can't create more than max_prepared_stmt_count statements (current value: %d)", maxStatements)
		}
		s, err := c.newStatement(&list[0])
		if err != nil {
			return err
		}
		c.sqlStmts[name] = s
		return nil
	}}, nil
}

// sqlExecute serves EXECUTE name [USING @a, @b].
func (c *conn) sqlExecute(p *piece, binary bool) error {
	if len(p.toks) < 2 || !p.toks[1].isName() {
		return nearError(p.text, len(p.text))
	}
	s := c.sqlStmts[strings.ToLower(p.toks[1].value)]
	if s == nil {
		return wireError(1243, "HY000", "Unknown prepared statement handler (%s) given to EXECUTE", p.toks[1].value)
	}
	var values []paramValue
	o := c.sess.TextOptions()
	for k := 2; k < len(p.toks); k += 2 {
		first := k == 2 && p.word(k) == "using" || k > 2 && p.toks[k].sign(",")
		if !first || k+1 >= len(p.toks) || p.toks[k+1].kind != tokVariable {
			return nearError(p.text, p.toks[k].pos)
		}
		u := c.vars.user[strings.ToLower(p.toks[k+1].value)]
		values = append(values, userValue(u, o))
	}
	if s.piece != nil {
		return c.piece(s.piece, binary)
	}
	if len(values) != len(s.stmt.Params()) {
		return wireError(1210, "HY000", "Incorrect arguments to EXECUTE")
	}
	args, err := c.arguments(s, values)
	if err != nil {
		return err
	}
	c.warnings = nil
	if err := c.beforeStatement(s.stmt.parsed); err != nil {
		return err
	}
	return c.send(s.stmt, args, &result{binary: binary})
}

// userValue is a user variable as a parameter.
func userValue(u userVariable, o *types.TextOptions) paramValue {
	if u.value.IsNull() {
		return paramValue{kind: 'n'}
	}
	v := paramValue{s: string(textOf(u.value, u.typ, o))}
	switch u.typ.Kind {
	case types.Int2, types.Int4, types.Int8:
		v.kind, v.i = 'i', u.value.Int()
	case types.Bool:
		v.kind = 'i'
		if u.value.Bool() {
			v.i = 1
		}
	case types.Float4, types.Float8:
		v.kind, v.f = 'f', u.value.Float()
	case types.Numeric:
		v.kind = 'd'
	case types.Bytea:
		v.kind, v.s = 'b', u.value.Str()
	case types.Date, types.Timestamp, types.TimestampTZ:
		v.kind = 't'
	case types.Time:
		v.kind = 'T'
	default:
		v.kind = 's'
	}
	return v
}

func (c *conn) sqlDeallocate(p *piece, k int) (*local, error) {
	if p.word(k) != "prepare" || k+2 != len(p.toks) {
		return nil, nearError(p.text, p.toks[0].end)
	}
	name := strings.ToLower(p.toks[k+1].value)
	return &local{run: func() error {
		s := c.sqlStmts[name]
		if s == nil {
			return wireError(1243, "HY000", "Unknown prepared statement handler (%s) given to DEALLOCATE PREPARE", p.toks[k+1].value)
		}
		c.drop(s)
		delete(c.sqlStmts, name)
		return nil
	}}, nil
}
