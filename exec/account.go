package exec

import (
	"sync/atomic"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Account counts the memory that operators hold: a query's, with the server's as its parent.
// Beyond Soft an operator that can spill does; beyond Hard a reservation fails with 53200, so
// that one query fails alone and not the server. Safe for concurrent use.
type Account struct {
	parent     *Account
	soft, hard int64
	used, peak atomic.Int64
	own        atomic.Int64 // what Grow counted
	scans      atomic.Int64 // what Reserve gave and Release did not take back
}

// NewAccount makes an account of limit bytes below parent (nil: none). Operators start to
// spill at three quarters of it. limit 0: only the parent limits.
func NewAccount(parent *Account, limit int64) *Account {
	return NewAccountSoft(parent, limit/4*3, limit)
}

// NewAccountSoft makes an account whose operators spill beyond soft and fail beyond hard; 0: no
// such limit.
func NewAccountSoft(parent *Account, soft, hard int64) *Account {
	return &Account{parent: parent, soft: soft, hard: hard}
}

// Used is the memory reserved now, and Peak the most there was.
func (a *Account) Used() int64 { return a.used.Load() }
func (a *Account) Peak() int64 { return a.peak.Load() }

// add reserves n bytes when every account on the way up stays within its limit times
// num/den of the soft limit, or within the hard one.
func (a *Account) add(n int64, hard bool, num, den int64) bool {
	if a == nil {
		return true
	}
	limit := a.soft / den * num
	if a.soft > 0 && limit == 0 {
		limit = 1
	}
	if hard {
		limit = a.hard
	}
	now := a.used.Add(n)
	if limit > 0 && now > limit {
		a.used.Add(-n)
		return false
	}
	if a.soft > 0 {
		num, den = 1, 1
	}
	if !a.parent.add(n, hard, num, den) {
		a.used.Add(-n)
		return false
	}
	for p := a.peak.Load(); now > p && !a.peak.CompareAndSwap(p, now); p = a.peak.Load() {
	}
	return true
}

func (a *Account) release(n int64) {
	for ; a != nil; a = a.parent {
		a.used.Add(-n)
	}
}

// accountChunk is the grain of reservations.
const accountChunk = 64 << 10

// memory is one operator's holding of an account; for one goroutine.
type memory struct {
	account *Account
	held    int64
	// num/den is the share of the soft limit up to which the holder grows before it spills:
	// a first level leaves room for what later reads its spilled partitions.
	num, den int64
	// sharers is how many holders share what is free whatever the limit; 0: one.
	sharers int64
}

func newMemory(e *Env) *memory { return &memory{account: e.Account, num: 1, den: 1} }

// share limits soft growth to num/den of the account.
func (m *memory) share(num, den int64) *memory {
	m.num, m.den = num, den
	return m
}

func roundChunk(n int64) int64 { return (n + accountChunk - 1) / accountChunk * accountChunk }

// grow makes the holding n bytes, rounded up; false: beyond the soft limit, spill.
func (m *memory) grow(n int64) bool {
	n = roundChunk(n)
	if n <= m.held {
		return true
	}
	if !m.account.add(n-m.held, false, m.num, m.den) {
		return false
	}
	m.held = n
	return true
}

// must makes the holding n bytes for what cannot spill; beyond the hard limit it fails.
func (m *memory) must(n int64) error {
	n = roundChunk(n)
	if n <= m.held {
		return nil
	}
	switch {
	case m.account.add(n-m.held, true, 1, 1):
	case n <= freeBytes/max(1, m.sharers):
		m.account.force(n - m.held)
	default:
		return errOutOfMemory()
	}
	m.held = n
	return nil
}

// freeBytes is what an operator may hold whatever the limit: a plan of a few operators runs
// within any limit at all, on disk.
const freeBytes = 1 << 20

// force counts n bytes that no limit can refuse.
func (a *Account) force(n int64) {
	for ; a != nil; a = a.parent {
		a.used.Add(n)
	}
}

// shrink gives back what is held beyond n bytes.
func (m *memory) shrink(n int64) {
	n = roundChunk(n)
	if n < m.held {
		m.account.release(m.held - n)
		m.held = n
	}
}

func (m *memory) free() {
	if m != nil {
		m.shrink(0)
	}
}

// Reserve takes n bytes for a scan's buffers. They cannot spill, and operators above may have
// filled the query's quota up to where they spill themselves: up to half of the server's
// memory a scan gets them nevertheless, where the server has them.
func (a *Account) Reserve(n int64) error {
	scans := a.scans.Add(n)
	if a.add(n, true, 1, 1) {
		return nil
	}
	if p := a.parent; p != nil && scans <= p.hard/2 && p.add(n, true, 1, 1) {
		a.used.Add(n)
		return nil
	}
	a.scans.Add(-n)
	return errOutOfMemory()
}

// Grow counts n bytes that live as long as the account itself: they are refused when they would
// go beyond the limits, and never given back.
func (a *Account) Grow(n int64) error {
	a.own.Add(n)
	room := a.hard == 0 || a.used.Load()+a.own.Load() <= a.hard
	for p := a.parent; room && p != nil; p = p.parent {
		room = p.hard == 0 || p.used.Load()+a.own.Load() <= p.hard
	}
	if !room {
		a.own.Add(-n)
		return errOutOfMemory()
	}
	return nil
}

// Release gives n reserved bytes back.
func (a *Account) Release(n int64) {
	a.scans.Add(-n)
	a.release(n)
}

func errOutOfMemory() error {
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
		WithDetail("The query needs more than its memory limit and cannot continue on disk here.").
		WithHint("Raise the memory limit, or reduce the size of single groups, partitions or results.")
}
