package mysql

import (
	"strings"

	"github.com/lhsql/lhsql/types"
)

// set serves SET in all its forms.
func (c *conn) set(p *piece) (*local, error) {
	switch {
	case p.words(1, "role"), p.words(1, "default", "role"):
		if p.words(1, "role", "none") || p.words(1, "role", "default") || p.words(1, "role", "all") || p.words(1, "default", "role", "none") {
			return &local{}, nil
		}
		return nil, wireError(1235, "42000", "This version doesn't yet support 'roles'")
	case p.words(1, "password"), p.words(1, "resource"):
		return nil, wireError(1235, "42000", "This version doesn't yet support 'SET %s'; users are in the server's configuration", strings.ToUpper(p.word(1)))
	}
	k, scope := 1, ""
	if s := p.word(1); s == "session" || s == "global" || s == "local" {
		scope, k = s, 2
	}
	if p.word(k) == "transaction" {
		return &local{run: func() error { return c.setTransaction(p, k+1, scope) }}, nil
	}
	list, err := c.assignments(p)
	if err != nil {
		return nil, err
	}
	return &local{run: func() error {
		// MySQL sets all or nothing; the values are computed first, which is where most fail.
		for i := range list {
			if err := c.compute(&list[i]); err != nil {
				return err
			}
		}
		for i := range list {
			if err := c.assign(&list[i]); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// assignment is one name = value of SET.
type assignment struct {
	name   string
	user   bool
	global bool
	word   string // a bare word such as ON or utf8mb4
	expr   string // else an expression
	reset  bool   // DEFAULT
	names  bool   // SET NAMES: word is the character set
	value  types.Datum
	typ    types.Type
}

// assignments reads the list after SET.
func (c *conn) assignments(p *piece) ([]assignment, error) {
	var out []assignment
	k := 1
	bad := func() error {
		pos := len(p.text)
		if k < len(p.toks) {
			pos = p.toks[k].pos
		}
		return nearError(p.text, pos)
	}
	for {
		var a assignment
		if w := p.word(k); w == "names" || w == "charset" || p.words(k, "character", "set") || w == "char" {
			k++
			if w == "character" || w == "char" {
				k++
			}
			a.names = true
			if k >= len(p.toks) || p.toks[k].sign("=") {
				return nil, bad()
			}
			a.word = p.toks[k].value
			if a.reset = p.word(k) == "default"; a.reset {
				a.word = "utf8mb4"
			}
			k++
			if p.word(k) == "collate" && k+1 < len(p.toks) {
				a.name = p.toks[k+1].value
				k += 2
			}
		} else {
			switch w {
			case "global", "persist":
				a.global = true
				k++
			case "session", "local":
				k++
			case "persist_only":
				return nil, wireError(1235, "42000", "This version doesn't yet support 'SET PERSIST_ONLY'")
			}
			if k >= len(p.toks) {
				return nil, bad()
			}
			t := p.toks[k]
			switch {
			case t.kind == tokVariable && strings.HasPrefix(t.text, "@@"):
				a.name = t.value
				if s, n, ok := strings.Cut(t.value, "."); ok {
					switch strings.ToLower(s) {
					case "global", "persist":
						a.global, a.name = true, n
					case "session", "local":
						a.name = n
					}
				}
			case t.kind == tokVariable:
				a.name, a.user = strings.ToLower(t.value), true
			case t.isName():
				a.name = t.value
				for k+2 < len(p.toks) && p.toks[k+1].sign(".") && p.toks[k+2].isName() {
					a.name += "." + p.toks[k+2].value
					k += 2
				}
			default:
				return nil, bad()
			}
			k++
			if k >= len(p.toks) || !p.toks[k].sign("=") && !p.toks[k].sign(":=") {
				return nil, bad()
			}
			k++
			from := k
			for depth := 0; k < len(p.toks) && (depth > 0 || !p.toks[k].sign(",")); k++ {
				switch {
				case p.toks[k].sign("("):
					depth++
				case p.toks[k].sign(")"):
					depth--
				}
			}
			if from == k {
				return nil, bad()
			}
			a.expr = p.text[p.toks[from].pos:p.toks[k-1].end]
			if w := p.word(from); k == from+1 && w != "" && w != "null" && w != "true" && w != "false" && !a.user {
				a.word, a.reset = p.toks[from].value, w == "default"
			} else if k == from+1 && p.toks[from].kind == tokQuoted && !a.user {
				a.word = p.toks[from].value
			}
		}
		out = append(out, a)
		if k >= len(p.toks) {
			return out, nil
		}
		if !p.toks[k].sign(",") {
			return nil, bad()
		}
		k++
	}
}

// compute finds the value of an assignment.
func (c *conn) compute(a *assignment) error {
	if a.names || a.word != "" {
		return nil
	}
	var err error
	a.value, a.typ, err = c.value(a.expr)
	return err
}

func (c *conn) assign(a *assignment) error {
	switch {
	case a.names:
		return c.setNames(a.word, a.name)
	case a.user:
		if a.typ.Kind == types.Unknown {
			a.typ = types.T(types.Text)
		}
		if len(c.vars.user) >= maxUserVariables && !c.vars.has(a.name) {
			return wireError(1041, "HY000", "A session can have at most %d variables", maxUserVariables)
		}
		c.vars.user[a.name] = userVariable{a.value, a.typ}
		return nil
	case a.reset:
		return c.vars.set(a.name, nil, a.global)
	}
	text := a.word
	if text == "" && a.expr != "" && !a.value.IsNull() {
		text = string(textOf(a.value, a.typ, c.sess.TextOptions()))
	}
	return c.vars.set(a.name, &text, a.global)
}

// maxUserVariables bounds what a session can keep in @variables.
const maxUserVariables = 10_000

func (v *variables) has(name string) bool { _, ok := v.user[name]; return ok }

// textOf is a single value's text as this wire shows it.
func textOf(d types.Datum, t types.Type, o *types.TextOptions) []byte {
	if t.Kind == types.Bool {
		if d.Bool() {
			return []byte("1")
		}
		return []byte("0")
	}
	return types.AppendText(nil, d, t, o)
}

func (c *conn) setNames(charset, collation string) error {
	cs, err := checkCharset(charset)
	if err != nil {
		return err
	}
	if collation == "" {
		collation = map[string]string{"utf8mb4": "utf8mb4_0900_ai_ci", "utf8mb3": "utf8mb3_general_ci", "binary": "binary", "ascii": "ascii_general_ci"}[cs]
	}
	for _, kv := range [][2]string{{"collation_connection", collation}, {"character_set_client", cs}, {"character_set_connection", cs}, {"character_set_results", cs}} {
		if err := c.vars.set(kv[0], &kv[1], false); err != nil {
			return err
		}
	}
	return nil
}

// setTransaction serves SET [SESSION|GLOBAL] TRANSACTION. Without a scope it is meant for the
// next transaction alone.
func (c *conn) setTransaction(p *piece, k int, scope string) error {
	for k < len(p.toks) {
		var name, value string
		switch {
		case p.words(k, "isolation", "level", "read", "uncommitted"), p.words(k, "isolation", "level", "read", "committed"),
			p.words(k, "isolation", "level", "repeatable", "read"):
			name, value = "transaction_isolation", p.word(k+2)+"-"+p.word(k+3)
			k += 4
		case p.words(k, "isolation", "level", "serializable"):
			name, value = "transaction_isolation", "serializable"
			k += 3
		case p.words(k, "read", "only"), p.words(k, "read", "write"):
			name, value = "transaction_read_only", map[bool]string{true: "ON", false: "OFF"}[p.word(k+1) == "only"]
			k += 2
		default:
			return nearError(p.text, p.toks[k].pos)
		}
		if scope == "" {
			if c.sess.Status() != 'I' {
				return wireError(1568, "25001", "Transaction characteristics can't be changed while a transaction is in progress")
			}
			c.vars.next = append(c.vars.next, [2]string{name, value})
		} else if err := c.vars.set(name, &value, scope == "global"); err != nil {
			return err
		}
		if k < len(p.toks) {
			if !p.toks[k].sign(",") {
				return nearError(p.text, p.toks[k].pos)
			}
			k++
		}
	}
	return nil
}
