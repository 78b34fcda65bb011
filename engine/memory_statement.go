package engine

import (
	"context"

	"github.com/lhsql/lhsql/exec"
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
	if s.texts.Grow(n) != nil {
		return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
			WithDetail("A statement or message that takes %d MB finds no room in the server's memory.", n>>20)
	}
	return nil
}

// Drop gives back what Hold counted.
func (s *Session) Drop(n int64) { s.texts.Shrink(n) }

// What parsing takes per byte of text, and per word or sign beside string literals: the text is
// copied to the parser and comes back as a tree in bytes, which then becomes nodes.
const (
	parseByte  = 5
	parseToken = 250
)

// parseCost is about the memory that parsing a text takes.
func parseCost(text string) int64 {
	if len(text) < 4096 {
		return 0 // thousands of connections may hold as much
	}
	tokens := int64(0)
	word := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'':
			for i++; i < len(text) && text[i] != '\''; i++ {
			}
			tokens++
			word = false
		case c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80:
			if !word {
				tokens++
			}
			word = true
		default:
			if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
				tokens++
			}
			word = false
		}
	}
	return int64(len(text))*parseByte + tokens*parseToken
}

// StatementCost is about what a prepared statement holds: its text, its tree and its plan.
func StatementCost(text string) int64 { return 4096 + 8*int64(len(text)) }
