package engine

import (
	"context"

	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// begin makes a statement known to its session, so that the governor can end it.
func (r *runner) begin(cancel context.CancelCauseFunc) {
	r.cancel = cancel
	r.s.mu.Lock()
	r.s.running[r] = true
	r.s.mu.Unlock()
}

// owns adds an account that ends with the statement; for a nil r somebody else ends it.
func (r *runner) owns(a *exec.Account) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.accounts = append(r.accounts, a)
	r.mu.Unlock()
}

// end gives back all memory of the statement; nothing of it runs any more.
func (r *runner) end() {
	if r == nil {
		return
	}
	r.s.mu.Lock()
	delete(r.s.running, r)
	r.s.mu.Unlock()
	r.mu.Lock()
	for _, a := range r.accounts {
		a.Close()
	}
	r.accounts = nil
	r.mu.Unlock()
}

// held is what the statement has reserved.
func (r *runner) held() (n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.accounts {
		n += a.Held()
	}
	return n
}

// Hold counts n bytes that the session's client made the server keep: a message, a statement.
// It fails with 53200 where the server has no room for them.
func (s *Session) Hold(n int64) error {
	if s.texts.Grow(n) == nil {
		if room.Take(int(n)) == nil {
			return nil
		}
		s.texts.Shrink(n)
	}
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
		WithDetail("A statement or message that takes %d MB finds no room in the server's memory.", n>>20)
}

// Drop gives back what Hold counted.
func (s *Session) Drop(n int64) { s.texts.Shrink(n) }

// What parsing takes per byte of text, and per word or sign beside string literals: the text is
// copied to the parser and comes back as a tree in bytes, which then becomes nodes.
const (
	parseByte  = 5
	parseToken = 250
)

// planToken is what binding and planning take per word or sign: nodes of the plan, which passes copy,
// and constants.
const planToken = 400

// cutToken is what a wire takes per word or sign that looks at a text's tokens itself.
const cutToken = 150

// smallText is the length below which texts are not counted: thousands of connections may hold as
// much.
const smallText = 4096

// parseCost is about the memory that parsing a text takes, and planCost what its plan does.
func parseCost(text string) int64 {
	if len(text) < smallText {
		return 0
	}
	return int64(len(text))*parseByte + tokens(text)*parseToken
}

func planCost(text string) int64 {
	if len(text) < smallText {
		return 0
	}
	return tokens(text) * planToken
}

// CutCost is about the memory that cutting a text into tokens takes.
func CutCost(text string) int64 {
	if len(text) < smallText {
		return 0
	}
	return tokens(text) * cutToken
}

// holdPlan counts until the statement's end what binding and planning its text takes, before they
// begin.
func (r *runner) holdPlan(text string) error {
	n := planCost(text)
	if n == 0 {
		return nil
	}
	a := exec.NewAccount(r.s.engine.account, 0)
	r.owns(a)
	if a.Grow(n) != nil || room.Take(int(n)) != nil {
		return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
			WithDetail("Planning a statement of %d kB may take %d MB, for which the server's memory has no room.", len(text)>>10, n>>20)
	}
	return nil
}

// tokens is about how many words and signs a text has, string literals counting as one.
func tokens(text string) int64 {
	n := int64(0)
	word := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'':
			for i++; i < len(text) && text[i] != '\''; i++ {
			}
			n++
			word = false
		case c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80:
			if !word {
				n++
			}
			word = true
		default:
			if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
				n++
			}
			word = false
		}
	}
	return n
}

// StatementCost is about what a prepared statement holds: its text, its tree and its plan.
func StatementCost(text string) int64 {
	n := 4096 + 8*int64(len(text))
	if len(text) >= smallText {
		n += tokens(text) * (parseToken + planToken) / 2
	}
	return n
}
