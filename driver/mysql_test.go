package driver

import (
	"context"
	"database/sql"
	"testing"
)

// In MySQL's dialect a program has MySQL's statements, its parameters and variables of the session.
func TestMySQL(t *testing.T) {
	db := testDB(t)
	db.Close() // the catalog is there
	my, err := sql.Open("lhsql", t.TempDir()+"?dialect=mysql")
	if err != nil {
		t.Fatal(err)
	}
	defer my.Close()
	my.SetMaxOpenConns(1) // variables are a session's
	text := func(query string, args ...any) string {
		t.Helper()
		var s sql.NullString
		rows, err := my.Query(query, args...)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		defer rows.Close()
		for rows.Next() { // to the end: what FOUND_ROWS() tells is known there
			if err := rows.Scan(&s); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		if !s.Valid {
			return "NULL"
		}
		return s.String
	}
	for _, q := range []string{"CREATE DATABASE shop", "USE shop", "CREATE TABLE t (a int, b text)", "INSERT INTO t VALUES (1, 'x'), (2, 'y')", "SET @n = 40",
		"SET SESSION sql_mode = 'ANSI_QUOTES'", "SELECT max(a) INTO @top FROM t"} {
		if _, err := my.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	for _, c := range []struct {
		query string
		args  []any
		want  string
	}{
		{"SELECT @n + ?", []any{2}, "42"},
		{"SELECT b FROM t WHERE a = ?", []any{"2"}, "y"},
		{"SELECT ? IS NULL", []any{nil}, "1"},
		{`SELECT "b" FROM t WHERE a = @top`, nil, "y"},
		{"SHOW TABLES", nil, "t"},
		{"SHOW TABLES LIKE 'nope%'", nil, ""},
		{"SELECT DATABASE()", nil, "shop"},
		{"SELECT SQL_CALC_FOUND_ROWS a FROM t WHERE a > ? ORDER BY a LIMIT 1", []any{0}, "1"},
		{"SELECT FOUND_ROWS()", nil, "2"},
		// A parameter has its value's type: integers stay integers, in the same statement too.
		{"SELECT 9007199254740993 + ?", []any{1}, "9007199254740994"},
		{"SELECT ? + ?", []any{int64(9007199254740993), 1}, "9007199254740994"},
		{"SELECT 9007199254740993 % ?", []any{10}, "3"},
		{"SELECT IF(a * ? = ?, 1, 0) FROM t WHERE a = 1", []any{0, 0.5}, "0"},
		{"SELECT CASE WHEN ? THEN ? ELSE 'x' END", []any{2, "yes"}, "yes"},
		{"SELECT COALESCE(?, a) FROM t WHERE a = 2", []any{1.5}, "1.5"},
		{"SELECT COUNT(*) FROM t WHERE a = ?", []any{"1.0"}, "1"},
		{"SELECT COUNT(*) FROM t WHERE CAST('2024-01-02' AS DATE) > ?", []any{"24-01-01"}, "2"},
	} {
		if c.want == "" {
			if err := my.QueryRow(c.query).Scan(new(string)); err != sql.ErrNoRows {
				t.Errorf("%s: %v", c.query, err)
			}
			continue
		}
		if got := text(c.query, c.args...); got != c.want && !(c.want == "1" && got == "true") {
			t.Errorf("%s %v gives %s, want %s", c.query, c.args, got, c.want)
		}
	}
	tx, err := my.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("DELETE FROM t"); err == nil {
		t.Error("a transaction that only reads wrote")
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
}
