// Command memory answers: does a server keep to its memory limit, whatever it is asked?
//
// It starts a child `lhsql serve` per limit, asks it for heavy statements one after another, and
// prints for each how it ended, the peak of the process's resident memory and the bytes that were
// written to disk. It fails when the process dies, when the memory passes the limit by more than a
// tenth, when an answer differs from that of a server without a limit, when a statement fails
// that need not, or when files are left behind.
//
//	go build -o lhsql ./cmd/lhsql
//	go run ./bench/memory -binary ./lhsql -warehouse WAREHOUSE [-limits 256MB,512MB] [-only TEXT] [-hostile]
//
// WAREHOUSE is what bench/tpch/load.py made; without one, statements without tables are asked.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
)

// fanOutRows is how many rows go into 10,000 partitions.
var fanOutRows = flag.Int("fan-out-rows", 2_000_000, "rows that are inserted into 10,000 partitions")

func main() {
	binary := flag.String("binary", "", "a built lhsql")
	warehouse := flag.String("warehouse", "", "a TPC-H warehouse; none: statements without tables")
	limits := flag.String("limits", "256MB,512MB", "memory limits")
	mean := flag.Bool("hostile", false, "only the statements that make much of little")
	only := flag.String("only", "", "only statements whose name contains this")
	queries := flag.String("queries", "", "a folder of queries to ask too, each of which must answer")
	query := flag.String("query_memory", "", "query_memory of the folder's queries")
	reference := flag.String("reference", "", "a file that keeps the answers without a limit from run to run")
	flag.DurationVar(&patience, "patience", patience, "how long one statement may take")
	flag.Parse()
	folder, err := os.MkdirTemp("", "lhsql-memory-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer os.RemoveAll(folder)
	list, err := statements(*warehouse, *queries, *query, *only, *mean, folder)
	if err == nil {
		err = run(context.Background(), *binary, *warehouse, strings.Split(*limits, ","), list, *reference)
	}
	if err != nil {
		os.RemoveAll(folder)
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// statements are those to ask. Tables that they need are made in folder.
func statements(warehouse, queries, queryMemory, only string, mean bool, folder string) ([]statement, error) {
	var all []statement
	if warehouse != "" {
		all = append(all, tables...)
	}
	all = append(append(append(all, tableless...), writes...), hostile...)
	if mean {
		all = hostile
	}
	if queries == "" {
		tables, err := hostileMetadata(folder)
		if err != nil {
			return nil, err
		}
		all = append(all[:len(all):len(all)], tables...)
	}
	if queries != "" {
		all = nil
		files, err := filepath.Glob(filepath.Join(queries, "*.sql"))
		if err != nil {
			return nil, err
		}
		sort.Strings(files)
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				return nil, err
			}
			st := statement{what: strings.TrimSuffix(filepath.Base(f), ".sql"), sql: string(b)}
			if queryMemory != "" {
				st.set = []string{"set lhsql.query_memory = '" + queryMemory + "'"}
			}
			all = append(all, st)
		}
	}
	var out []statement
	for _, s := range all {
		if strings.Contains(s.what, only) {
			out = append(out, s)
		}
	}
	return out, nil
}

// slack is what a process may take beyond a tenth of a small limit: its own pages of program text
// and read-only data that were touched, which no limit can lower.
const slack = 32 << 20

// allowed is the most resident memory under a limit (promises.md, V1).
func allowed(limit int64) int64 { return limit + limit/10 + slack }

// patience is how long one statement may take.
var patience = 5 * time.Minute

// plenty is the memory of the server whose answers count as right.
const plenty = "8GB"

// answers are what statements gave without a limit, by name.
type answers map[string]known

type known struct {
	Rows         int64
	Sum, Ordered uint64
	Code         string
}

func run(ctx context.Context, binary, warehouse string, limits []string, list []statement, reference string) error {
	if warehouse == "" {
		dir, err := os.MkdirTemp("", "lhsql-memory-warehouse-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		warehouse = dir
	}
	want, err := unlimited(ctx, binary, warehouse, list, reference)
	if err != nil {
		return err
	}
	bad := 0
	for _, l := range limits {
		n, err := underLimit(ctx, binary, warehouse, l, list, want)
		if err != nil {
			return err
		}
		bad += n
	}
	if bad > 0 {
		return fmt.Errorf("%d statements did not keep the promise", bad)
	}
	return nil
}

// unlimited finds the answers that limits must not change.
func unlimited(ctx context.Context, binary, warehouse string, list []statement, file string) (answers, error) {
	want := answers{}
	if b, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(b, &want); err != nil {
			return nil, err
		}
	}
	var s *server
	defer func() {
		if s != nil {
			s.stop()
		}
	}()
	for _, st := range list {
		if _, ok := want[st.what]; ok || st.run != nil || st.endless {
			continue
		}
		if s == nil {
			var err error
			if s, err = start(binary, warehouse, plenty); err != nil {
				return nil, err
			}
		}
		st.set = nil
		t, cancel := context.WithTimeout(ctx, patience)
		o := s.measure(t, st)
		cancel()
		if err := s.alive(); err != nil {
			return nil, fmt.Errorf("%s, without a limit: %w", st.what, err)
		}
		fmt.Fprintf(os.Stderr, "%-34s %-16s %8s %6d MB\n", st.what, o.answer(), o.took.Round(10*time.Millisecond), o.peak>>20)
		want[st.what] = known{o.rows, o.sum, o.ordered, o.code}
		if file == "" {
			continue
		}
		b, err := json.Marshal(want)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, b, 0o644); err != nil {
			return nil, err
		}
	}
	return want, nil
}

// underLimit asks everything under one limit and prints the table; it counts what went wrong.
func underLimit(ctx context.Context, binary, warehouse, text string, list []statement, want answers) (bad int, err error) {
	limit, err := bytesOf(text)
	if err != nil {
		return 0, err
	}
	s, err := start(binary, warehouse, text)
	if err != nil {
		return 0, err
	}
	defer func() { s.stop() }()
	fmt.Printf("\nmemory_limit %s: at most %d MB resident; %d MB after the start\n\n", text, allowed(limit)>>20, s.status("VmRSS")>>20)
	fmt.Printf("| %-34s | %-14s | %8s | %8s | %10s |\n|%s|%s|%s:|%s:|%s:|\n", "statement", "outcome", "seconds", "peak MB", "spilled MB",
		strings.Repeat("-", 36), strings.Repeat("-", 16), strings.Repeat("-", 9), strings.Repeat("-", 9), strings.Repeat("-", 11))
	for _, st := range list {
		t, cancel := context.WithTimeout(ctx, patience)
		o := s.measure(t, st)
		cancel()
		var wrong []string
		if err := s.alive(); err != nil {
			wrong = append(wrong, err.Error())
			if s, err = start(binary, warehouse, text); err != nil {
				return bad, err
			}
		}
		wrong = append(wrong, st.judge(o, want, limit)...)
		if left := s.left(); len(left) > 0 {
			wrong = append(wrong, fmt.Sprintf("files are left: %v", left))
		}
		fmt.Printf("| %-34s | %-14s | %8.1f | %8d | %10d | %s\n", st.what, o.answer(), o.took.Seconds(), o.peak>>20, o.spilled>>20, strings.Join(wrong, "; "))
		if len(wrong) > 0 {
			bad++
		}
	}
	return bad, nil
}

// judge says what is wrong with an outcome.
func (st statement) judge(o outcome, want answers, limit int64) (wrong []string) {
	if o.peak > allowed(limit) {
		wrong = append(wrong, "too much memory")
	}
	if o.err != nil {
		for _, c := range st.codes {
			if o.code == c {
				return wrong
			}
		}
		if k, ok := want[st.what]; ok && k.Code != "" && k.Code == o.code {
			return wrong
		}
		return append(wrong, o.err.Error())
	}
	k, ok := want[st.what]
	switch {
	case !ok:
	case k.Code != "": // a larger memory's limit on one value was in the way
	case k.Rows != o.rows || k.Sum != o.sum || st.ordered && k.Ordered != o.ordered:
		wrong = append(wrong, fmt.Sprintf("another answer: %d rows without a limit", k.Rows))
	}
	return wrong
}

func bytesOf(text string) (int64, error) {
	unit := int64(1)
	for suffix, u := range map[string]int64{"GB": 1 << 30, "MB": 1 << 20, "kB": 1 << 10} {
		if t, ok := strings.CutSuffix(text, suffix); ok {
			text, unit = t, u
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n * unit, err
}
