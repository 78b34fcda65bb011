package engine

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// queryShare is how much of the process's memory operators may reserve together; scans go up to
// scanShare. The rest is for what no account sees: the program itself, plans, caches of metadata,
// and what the garbage collector has not collected yet.
func queryShare(limit int64) int64 { return limit / 8 * 5 }
func scanShare(limit int64) int64  { return limit / 4 * 3 }

// manifestShare and footerShare bound the caches of metadata.
func manifestShare(limit int64) int64 { return limit / 8 }
func footerShare(limit int64) int64   { return limit / 16 }

// MemoryLimit is the memory that the process shall stay within (promises.md, V1).
func (e *Engine) MemoryLimit() int64 { return e.cfg.MemoryLimit }

// machineMemory is the memory that this process may count on: the machine's, or its control
// group's limit where that is lower. Where neither can be read: 4 GiB.
func machineMemory() int64 {
	m := int64(4 << 30)
	if f, err := os.Open("/proc/meminfo"); err == nil {
		sc := bufio.NewScanner(f)
		for sc.Scan() {
			if w := strings.Fields(sc.Text()); len(w) >= 2 && w[0] == "MemTotal:" {
				if kb, err := strconv.ParseInt(w[1], 10, 64); err == nil {
					m = kb << 10
				}
			}
		}
		f.Close()
	}
	for _, p := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		b, err := os.ReadFile(p)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil && n > 0 && n < m {
			m = n
		}
	}
	return m
}

// quotedList spells names for a message: "a", "b".
func quotedList(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = strconv.Quote(n)
	}
	return strings.Join(q, ", ")
}

// MemoryUsed is what statements under way have reserved at the moment; what sessions keep for their
// clients is not counted.
func (e *Engine) MemoryUsed() int64 {
	n := e.account.Used()
	for _, s := range e.activeSessions() {
		n -= s.texts.Used()
	}
	return n
}
