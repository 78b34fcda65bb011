package eval

// This file numbers the rows of identity columns: a statement takes numbers from the first free one
// on, and the commit of its rows keeps the next one with the table.

import (
	"math"
	"sync"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// Numbers are the numbers that one statement takes for a column. Safe for concurrent use.
type Numbers struct {
	FieldID   int
	From      int64 // the first free number when the statement was bound
	Increment int64

	mu          sync.Mutex
	next        int64
	taken       bool
	first, last int64 // that were taken
}

// NewNumbers takes numbers from a column's first free one.
func NewNumbers(fieldID int, from, increment int64) *Numbers {
	return &Numbers{FieldID: fieldID, From: from, Increment: increment, next: from}
}

func (n *Numbers) take(column string) (int64, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	v := n.next
	if v > math.MaxInt64-n.Increment {
		return 0, sqlerr.New(sqlerr.SequenceLimit, "column \"%s\" has reached its last number, %d", column, v)
	}
	if n.next += n.Increment; !n.taken {
		n.taken, n.first = true, v
	}
	n.last = v
	return v, nil
}

// seen leaves out the numbers up to v, which a row was given.
func (n *Numbers) seen(v int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if v >= n.next && v < math.MaxInt64-n.Increment {
		n.next += (v - n.next + n.Increment) / n.Increment * n.Increment
	}
}

// Next is the first number that is free now; used tells whether that is another than at first.
func (n *Numbers) Next() (next int64, used bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.next, n.next != n.From
}

// Taken are the first and the last number that rows were given; ok is false where none was.
func (n *Numbers) Taken() (first, last int64, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.first, n.last, n.taken
}

// Function gives a row its number where its own, of type t, is NULL; zero, where zero is none either.
func (n *Numbers) Function(column string, t types.Type, zero bool) *plan.Function {
	f := NewRowFunction("number", []types.Type{t}, t, func(c *Ctx, args []types.Datum) (types.Datum, error) {
		if !args[0].IsNull() {
			d := types.DecimalOf(args[0], t)
			if v, err := d.ToInt(types.Int8); err == nil && (v != 0 || !zero) {
				n.seen(v)
				return args[0], nil
			} else if err != nil {
				return args[0], nil
			}
		}
		v, err := n.take(column)
		if err != nil {
			return types.Null, err
		}
		return types.DecimalFromInt64(v).Datum(t)
	})
	f.Strict, f.Volatility = false, plan.Volatile
	return f
}
