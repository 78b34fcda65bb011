package exec

import (
	"sync/atomic"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Account counts the memory that statements hold: a query's, with the server's as its parent.
// Beyond soft an operator that can spill does; beyond hard a reservation fails with 53200, so
// that one query fails alone and not the server. Safe for concurrent use.
//
// Operators and scans share the server's memory but not a query's quota: a scan's buffers cannot
// spill, and a quota that its operators have filled must not end the query. Scans have what lies
// between the operators' limit and the server's scan limit for themselves.
type Account struct {
	parent     *Account
	soft, hard int64
	scan       int64 // up to where scans grow; 0: hard
	used, peak atomic.Int64
	scans      atomic.Int64 // of a query: what its scans hold, which is in used of the root alone
	pressed    atomic.Bool  // memory is short although nobody has counted it: spill
	disk       atomic.Int64 // bytes of temporary files that exist
	diskLimit  int64        // 0: none
	written    atomic.Int64 // bytes written to temporary files since the start
}

// NewAccount makes an account of limit bytes below parent (nil: none). Operators start to
// spill at three quarters of it. limit 0: only the parent limits.
func NewAccount(parent *Account, limit int64) *Account {
	return &Account{parent: parent, soft: limit / 4 * 3, hard: limit}
}

// NewServerAccount makes the account of a whole server: operators spill beyond soft and fail
// beyond hard, scans fail beyond scan; 0: no such limit.
func NewServerAccount(soft, hard, scan int64) *Account {
	return &Account{soft: soft, hard: hard, scan: scan}
}

// LimitDisk bounds the temporary files of a's operators; 0: no limit. Call it before they run.
func (a *Account) LimitDisk(bytes int64) { a.diskLimit = bytes }

// Used is the memory reserved now, and Peak the most there was; a query's scans not included.
func (a *Account) Used() int64 { return a.used.Load() }
func (a *Account) Peak() int64 { return a.peak.Load() }

// Held is all that a counts: operators and scans.
func (a *Account) Held() int64 { return a.used.Load() + a.scans.Load() }

// Press tells operators that memory is short whatever has been counted.
func (a *Account) Press(on bool) { a.pressed.Store(on) }

// SpilledBytes is how much has been written to temporary files since the account was made.
func (a *Account) SpilledBytes() int64 { return a.written.Load() }

// Close gives back to the parent what is still reserved. Nothing may run on the account any more.
func (a *Account) Close() {
	if a == nil || a.parent == nil {
		return
	}
	a.parent.release(a.used.Swap(0))
	root := a.root()
	root.used.Add(-a.scans.Swap(0))
}

func (a *Account) root() *Account {
	for a.parent != nil {
		a = a.parent
	}
	return a
}

// add reserves n bytes when every account on the way up stays within its limit times
// num/den of the soft limit, or within the hard one.
func (a *Account) add(n int64, hard bool, num, den int64) bool {
	if a == nil {
		return true
	}
	if !hard && a.pressed.Load() {
		return false
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

// Reserve takes n bytes for a scan's buffers, of the server's memory and not of the query's
// quota. One query's scans get no more than half of what the server has for scans.
func (a *Account) Reserve(n int64) error {
	root := a.root()
	limit := root.scan
	if limit == 0 {
		limit = root.hard
	}
	if root.used.Add(n) > limit && limit > 0 {
		root.used.Add(-n)
		return errOutOfMemory()
	}
	for p := a; p != root; p = p.parent {
		if p.scans.Add(n) > limit/2 && limit > 0 && p.parent == root {
			for q := a; ; q = q.parent {
				q.scans.Add(-n)
				if q == p {
					break
				}
			}
			root.used.Add(-n)
			return errOutOfMemory()
		}
	}
	return nil
}

// Release gives n reserved bytes back.
func (a *Account) Release(n int64) {
	root := a.root()
	root.used.Add(-n)
	for p := a; p != root; p = p.parent {
		p.scans.Add(-n)
	}
}

// Grow counts n bytes of what lives until Close: they are refused when they would go beyond the
// limits, and not given back before.
func (a *Account) Grow(n int64) error {
	if !a.add(n, true, 1, 1) {
		return errOutOfMemory()
	}
	return nil
}

// Shrink gives back what Grow counted.
func (a *Account) Shrink(n int64) { a.release(n) }

// spill counts n bytes on their way to a temporary file.
func (a *Account) spill(n int64) error {
	for p := a; p != nil; p = p.parent {
		p.written.Add(n)
		if now := p.disk.Add(n); p.diskLimit > 0 && now > p.diskLimit {
			limit := p.diskLimit
			for q := a; ; q = q.parent {
				q.disk.Add(-n)
				if q == p {
					break
				}
			}
			return sqlerr.New(sqlerr.ConfigurationLimitExceeded, "temporary file size exceeds temp_file_limit (%dkB)", limit>>10)
		}
	}
	return nil
}

// unspill counts that n bytes of temporary files are gone.
func (a *Account) unspill(n int64) {
	for ; a != nil; a = a.parent {
		a.disk.Add(-n)
	}
}

func errOutOfMemory() error {
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
		WithDetail("The query needs more than its memory limit and cannot continue on disk here.").
		WithHint("Raise the memory limit, or reduce the size of single groups, partitions or results.")
}
