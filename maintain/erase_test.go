package maintain_test

import (
	"fmt"
	"strings"
	"testing"
)

const token = "tok-5f4dcc3b5aa765d61d83"

// eraseToken erases the token from a table and gives the outcome's rows.
func (h *house) eraseToken(tables, more string) []string {
	h.t.Helper()
	return h.must(fmt.Sprintf("ERASE FROM %s WHERE token = '%s' REASON 'DSR-1' %s", tables, token, more))
}

func status(rows []string) string {
	if len(rows) == 0 {
		return ""
	}
	return strings.Split(rows[0], "|")[1]
}

// A first look.
func TestErase(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, token text)")
	h.must("INSERT INTO s.t VALUES (1, 'a'), (2, '" + token + "'), (3, 'z')")
	h.must("INSERT INTO s.t VALUES (4, 'c')")
	for _, r := range h.must("SHOW HOLDERS FROM s.t WHERE token = '" + token + "'") {
		t.Log(r)
	}
	for _, r := range h.eraseToken("s.t", "DRY RUN") {
		t.Log(r)
	}
	rows := h.eraseToken("s.t", "")
	for _, r := range rows {
		t.Log(r)
	}
	h.want("SELECT * FROM s.t", "1|a", "3|z", "4|c")
	for _, r := range h.must("SELECT * FROM system.erasures") {
		t.Log(r)
	}
	if status(rows) != "DONE" {
		t.Error(rows)
	}
}
