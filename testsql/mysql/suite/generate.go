package main

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strings"
)

// The generated comparison: columns of each type, operators, and parameters of each type that a
// client sends, in prepared statements on both servers. MariaDB is the judge, but for the ways in
// which it is not MySQL 8, which differs names.

var generatedTable = []string{
	"create table g (id int, i int, b bigint, d decimal(20,4), f double, t varchar(40), dt date, ts datetime(6))",
	`insert into g values (1, 7, 9007199254740993, 0.1000, 2.5, '7', '2024-02-29', '2024-02-29 12:34:56.789012'),
		(2, -3, -9223372036854775808, 12345678901234.5678, -0.5, '0.1', '1999-12-31', '1999-12-31 23:59:59'),
		(3, 0, 9223372036854775807, -1.5000, 0, 'abc', '2024-01-01', '2024-01-01 00:00:00'),
		(4, null, null, null, null, null, null, null),
		(5, 2147483647, 3, 99.9900, 1e20, '2024-02-29', '2038-01-19', '2038-01-19 03:14:07.5')`,
}

var (
	generatedColumns = []string{"i", "b", "d", "f", "t", "dt", "ts"}
	generatedValues  = []any{int64(0), int64(1), int64(-3), int64(7), int64(9007199254740993), int64(20240229), 0.1, 2.5, -0.5, 1e20,
		"7", "0.1", "abc", "", " 3 ", "2024-02-29", "2024-02-29 12:34:56.789012", "20240229", nil}
	generatedForms = []string{"%[1]s + ?", "? - %[1]s", "%[1]s * ?", "%[1]s %% ?", "%[1]s div ?", "%[1]s = ?", "%[1]s <> ?", "%[1]s < ?", "? >= %[1]s",
		"%[1]s <=> ?", "%[1]s in (?, 1)", "%[1]s between ? and ?", "coalesce(%[1]s, ?)", "case when %[1]s = ? then ? else %[1]s end", "if(?, %[1]s, ?)",
		"concat(%[1]s, ?)", "nullif(%[1]s, ?)", "%[1]s * ? = ?", "%[1]s + ? * 2", "ifnull(?, %[1]s)", "%[1]s is null or %[1]s > ?", "-? + %[1]s", "? and %[1]s"}
)

// differs are forms that MariaDB answers otherwise than MySQL 8.
func differs(form, column string, args []any) bool {
	if column == "b" && strings.ContainsAny(form, "-+*") {
		return true // where a product or sum leaves the range, MariaDB goes on without a sign
	}
	for _, a := range args {
		s, text := a.(string)
		_, float := a.(float64)
		switch {
		case text && (column == "dt" || column == "ts"):
			return true // a text that is no date is an error in MySQL 8 where it is compared, and text and numbers mix otherwise
		case text && strings.TrimSpace(s) != s:
			return true
		case (column == "dt" || column == "ts") && a != nil && a != int64(20240229):
			return true // a number that is no date
		case column == "ts" && strings.Contains(form, "concat"):
			return true // how many digits of a second a declared precision shows
		case float && strings.Contains(form, "concat"):
			return true // how many digits a double has as text
		}
	}
	return false
}

func generated(own, judge *server, count int, seed int64) error {
	r := rand.New(rand.NewSource(seed))
	for _, s := range []*server{own, judge} {
		if err := s.fresh(); err != nil {
			return err
		}
		for _, q := range generatedTable {
			if a := s.ask(q); a.err != nil {
				return a.err
			}
		}
	}
	kinds := map[string][]string{}
	same := 0
	for n := 0; n < count; n++ {
		column, form := generatedColumns[r.Intn(len(generatedColumns))], generatedForms[r.Intn(len(generatedForms))]
		q := "select id, " + fmt.Sprintf(form, column) + " as x from g order by id"
		args := make([]any, strings.Count(form, "?"))
		for i := range args {
			args[i] = generatedValues[r.Intn(len(generatedValues))]
		}
		if differs(form, column, args) {
			continue
		}
		a, b := own.prepared(q, args), judge.prepared(q, args)
		if sameAnswer(q, a, b) {
			same++
			continue
		}
		var of []string
		for _, x := range args {
			of = append(of, fmt.Sprintf("%T", x))
		}
		k := fmt.Sprintf("%s of %s with %s", form, column, strings.Join(of, ", "))
		kinds[k] = append(kinds[k], fmt.Sprintf("%v\n      lhsql   %s\n      MariaDB %s", args, a, b))
	}
	var names []string
	for k := range kinds {
		names = append(names, k)
	}
	sort.Strings(names)
	for _, k := range names {
		fmt.Printf("%4d  %s\n    %s\n", len(kinds[k]), k, kinds[k][0])
	}
	fmt.Printf("generated: %d agree, %d kinds differ (seed %d)\n", same, len(names), seed)
	if len(names) > *most {
		fmt.Printf("more kinds differ than the %d that are known\n", *most)
		os.Exit(1)
	}
	return nil
}

// prepared runs a query as a prepared statement.
func (s *server) prepared(q string, args []any) answer {
	if len(args) == 0 {
		return s.ask(q)
	}
	rows, err := s.conn.QueryContext(context.Background(), q, args...)
	if err != nil {
		return s.failed(err)
	}
	return s.read(rows)
}
