package mysql

import (
	"strconv"
	"time"
)

// list gives the engine the rows of the tables that only the wire knows.
func (c *conn) list(name string) [][2]string {
	switch name {
	case "session_variables":
		return c.vars.list(false)
	case "global_variables":
		return c.vars.list(true)
	case "session_status", "global_status":
		return c.statusList()
	}
	return nil
}

// statusList is SHOW STATUS.
func (c *conn) statusList() [][2]string {
	s := c.srv
	now, most := s.door.Sessions()
	tls, cipher := "", ""
	if c.secure {
		tls, cipher = c.tlsNames()
	}
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	return [][2]string{
		{"Aborted_clients", "0"},
		{"Aborted_connects", n(s.count.aborted.Load())},
		{"Bytes_received", n(s.count.received.Load())},
		{"Bytes_sent", n(s.count.sent.Load())},
		{"Compression", "OFF"},
		{"Connections", n(s.count.connections.Load())},
		{"Max_used_connections", n(int64(most))},
		{"Open_files", "0"},
		{"Open_tables", "0"},
		{"Prepared_stmt_count", n(int64(len(c.stmts)))},
		{"Queries", n(s.count.questions.Load())},
		{"Questions", n(s.count.questions.Load())},
		{"Slow_queries", n(s.count.slow.Load())},
		{"Ssl_cipher", cipher},
		{"Ssl_version", tls},
		{"Threads_cached", "0"},
		{"Threads_connected", n(int64(now))},
		{"Threads_created", n(s.count.connections.Load())},
		{"Threads_running", "1"},
		{"Uptime", n(int64(time.Since(s.start).Seconds()))},
		{"Uptime_since_flush_status", n(int64(time.Since(s.start).Seconds()))},
	}
}
