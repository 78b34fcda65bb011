package engine

import (
	"strconv"
	"sync/atomic"
	"time"
)

// MySQLCounters are what SHOW STATUS tells of a server's connections. The wire counts.
type MySQLCounters struct {
	Connections, Questions, Slow, Aborted atomic.Int64
	Sent, Received                        atomic.Int64 // bytes
	Now, Most                             atomic.Int64 // sessions
	Started                               time.Time
}

// list gives the rows of the tables about variables and the server's state.
func (m *MySQL) list(name string) [][2]string {
	switch name {
	case "session_variables":
		return m.variables(false)
	case "global_variables":
		return m.variables(true)
	case "session_status", "global_status":
		return m.statusList()
	}
	return nil
}

// statusList is SHOW STATUS.
func (m *MySQL) statusList() [][2]string {
	c := m.client.Counters
	if c == nil {
		c = &MySQLCounters{Started: m.s.engine.started}
	}
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	up := n(int64(time.Since(c.Started).Seconds()))
	return [][2]string{
		{"Aborted_clients", "0"},
		{"Aborted_connects", n(c.Aborted.Load())},
		{"Bytes_received", n(c.Received.Load())},
		{"Bytes_sent", n(c.Sent.Load())},
		{"Compression", "OFF"},
		{"Connections", n(c.Connections.Load())},
		{"Max_used_connections", n(c.Most.Load())},
		{"Open_files", "0"},
		{"Open_tables", "0"},
		{"Prepared_stmt_count", n(int64(m.Statements))},
		{"Queries", n(c.Questions.Load())},
		{"Questions", n(c.Questions.Load())},
		{"Slow_queries", n(c.Slow.Load())},
		{"Ssl_cipher", m.client.Cipher},
		{"Ssl_version", m.client.TLSVersion},
		{"Threads_cached", "0"},
		{"Threads_connected", n(c.Now.Load())},
		{"Threads_created", n(c.Connections.Load())},
		{"Threads_running", "1"},
		{"Uptime", up},
		{"Uptime_since_flush_status", up},
	}
}
