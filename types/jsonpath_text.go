package types

import "strconv"

// CanonicalJSONPath gives a path's text as PostgreSQL's output function does.
func CanonicalJSONPath(s string) (string, error) {
	e, err := CompileJSONPath(s)
	if err != nil {
		return "", err
	}
	var dst []byte
	if !e.Lax {
		dst = append(dst, "strict "...)
	}
	return string(e.Root.appendText(dst, true)), nil
}

func isPathPredicate(op string) bool { return (&PathNode{Op: op}).IsPredicate() }

// IsPredicate tells the nodes that are true, false or unknown.
func (n *PathNode) IsPredicate() bool {
	switch n.Op {
	case "==", "!=", "<", "<=", ">", ">=", "&&", "||", "!", "exists", "starts with", "like_regex", "is unknown":
		return true
	}
	return false
}

// priority is how closely an operator binds; accessors and values most.
func (n *PathNode) priority() int {
	switch n.Op {
	case "||":
		return 0
	case "&&":
		return 1
	case "==", "!=", "<", "<=", ">", ">=", "starts with":
		return 2
	case "+", "-":
		return 3
	case "*", "/", "%":
		return 4
	case "u+", "u-":
		return 5
	}
	return 6
}

// appendOperand appends an operand of n, in parentheses where it binds no closer.
func (n *PathNode) appendOperand(dst []byte, x *PathNode) []byte {
	return x.appendText(dst, x.priority() <= n.priority())
}

// appendText appends n; brackets: an operator stands in parentheses.
func (n *PathNode) appendText(dst []byte, brackets bool) []byte {
	switch n.Op {
	case "||", "&&", "==", "!=", "<", "<=", ">", ">=", "starts with", "+", "-", "*", "/", "%", "like_regex", "u+", "u-":
		if brackets {
			return append(n.appendOperator(append(dst, '(')), ')')
		}
		return n.appendOperator(dst)
	case "!":
		return append(n.Args[0].appendText(append(dst, "!("...), false), ')')
	case "is unknown":
		return append(n.Args[0].appendText(append(dst, '('), false), ") is unknown"...)
	case "exists":
		return append(n.Args[0].appendText(append(dst, "exists ("...), false), ')')
	case "string":
		return AppendJSONString(dst, n.Text)
	case "number":
		return n.Num.AppendText(dst)
	case "var":
		return AppendJSONString(append(dst, '$'), n.Text)
	case "$", "@", "true", "false", "null", "last":
		return append(dst, n.Op...)
	}
	return n.appendAccessor(dst)
}

func (n *PathNode) appendOperator(dst []byte) []byte {
	switch n.Op {
	case "u+", "u-":
		return n.appendOperand(append(dst, n.Op[1]), n.Args[0])
	case "like_regex":
		dst = append(n.appendOperand(dst, n.Args[0]), " like_regex "...)
		dst = AppendJSONString(dst, n.Args[1].Text)
		if n.Text != "" {
			dst = append(append(append(dst, " flag \""...), n.Text...), '"')
		}
		return dst
	}
	dst = append(n.appendOperand(dst, n.Args[0]), ' ')
	dst = append(append(dst, n.Op...), ' ')
	return n.appendOperand(dst, n.Args[1])
}

// appendAccessor appends what n applies to, and n.
func (n *PathNode) appendAccessor(dst []byte) []byte {
	if x := n.Args[0]; x.Op == "number" {
		dst = append(x.appendText(append(dst, '('), false), ')')
	} else if x.IsPredicate() && x.priority() == 6 && x.Op != "like_regex" {
		dst = append(x.appendText(append(dst, '('), false), ')')
	} else {
		dst = x.appendText(dst, true)
	}
	switch n.Op {
	case ".key":
		return AppendJSONString(append(dst, '.'), n.Text)
	case ".**":
		return n.appendLevels(append(dst, ".**"...))
	case "?":
		return append(n.Args[1].appendText(append(dst, "?("...), false), ')')
	case "method":
		dst = append(append(append(dst, '.'), n.Text...), '(')
		if len(n.Args) > 1 {
			dst = n.Args[1].appendText(dst, false)
		}
		return append(dst, ')')
	case "[]":
		for i := 1; i < len(n.Args); i += 2 {
			dst = append(dst, "[,"[min(i/2, 1)])
			dst = n.Args[i].appendText(dst, false)
			if to := n.Args[i+1]; to != nil {
				dst = to.appendText(append(dst, " to "...), false)
			}
		}
		return append(dst, ']')
	}
	return append(dst, n.Op...) // .* and [*]
}

func (n *PathNode) appendLevels(dst []byte) []byte {
	level := func(dst []byte, i int) []byte {
		if i < 0 {
			return append(dst, "last"...)
		}
		return strconv.AppendInt(dst, int64(i), 10)
	}
	if n.Lo == 0 && n.Hi < 0 {
		return dst
	}
	dst = level(append(dst, '{'), n.Lo)
	if n.Lo != n.Hi {
		dst = level(append(dst, " to "...), n.Hi)
	}
	return append(dst, '}')
}
