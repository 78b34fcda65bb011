package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

//go:embed demo.sql
var demoSQL string

// demoRows is the number of orders' items a month.
const demoRows = 4000

// runDemo makes the demo lakehouse where it is missing, and serves it.
func runDemo(c *config) error {
	folder := c.get("warehouse")
	if _, err := os.Stat(filepath.Join(folder, "catalog.db")); errors.Is(err, os.ErrNotExist) {
		fmt.Printf("making the demo lakehouse in %s …\n", folder)
		start := time.Now()
		if err := makeDemo(c); err != nil {
			return fmt.Errorf("making the demo lakehouse: %w", err)
		}
		fmt.Printf("done in %.1f s\n", time.Since(start).Seconds())
	}
	return serve(c, func(_ *engine.Engine, wires []wire) error {
		for _, w := range wires {
			host, port, _ := net.SplitHostPort(w.l.Addr().String())
			if w.scheme == "mysql" {
				fmt.Printf("\nConnect:   mysql -h %s -P %s -D silver", host, port)
			} else {
				fmt.Printf("\nConnect:   psql -h %s -p %s -d lake", host, port)
			}
		}
		fmt.Print(demoHint)
		return nil
	})
}

// demoHint says what to try next.
const demoHint = `
Then try:
  \dt, \d silver.order_item (psql); SHOW TABLES, DESCRIBE silver.order_item (mysql)
  SELECT status, count(*) FROM silver.order_item GROUP BY status ORDER BY 2 DESC;
  SELECT count(*) FROM silver.order_item FOR SYSTEM_TIME AS OF '2026-06-15';
  SELECT committed_at, operation FROM silver.order_item.snapshots ORDER BY 1;
  SELECT sum(amount) FROM gold.finance_order_ledger FOR SYSTEM_VERSION AS OF 'q2_close';
  SELECT sum(amount) FROM silver.order_item.branch_repricing;
  EXPLAIN ANALYZE SELECT sum(amount) FROM silver.order_item WHERE order_time >= '2026-07-01' AND region = 'EU';

Ctrl-C ends the server; the lakehouse stays.
`

// demoClock is the time of the demo's history.
type demoClock struct{ now time.Time }

func (d *demoClock) Now() time.Time { return d.now }
func (d *demoClock) Sleep(ctx context.Context, t time.Duration) error {
	return clock.System{}.Sleep(ctx, t)
}

// makeDemo runs the demo's history through the engine, like any other client would.
func makeDemo(c *config) error {
	e, err := openEngine(c)
	if err != nil {
		return err
	}
	defer e.Close()
	watch := &demoClock{now: time.Now()}
	ctx := clock.With(context.Background(), watch)
	s, err := e.NewSession(ctx, engine.SessionOptions{User: "demo", Settings: map[string]string{
		// One worker: as many files on every machine.
		"TimeZone": "UTC", "lhsql.workers": "1"}})
	if err != nil {
		return err
	}
	defer s.Close()
	for _, step := range demoSteps() {
		if !step.at.IsZero() {
			watch.now = step.at
		}
		list, err := s.Parse(step.sql)
		if err != nil {
			return demoError(err, step.sql)
		}
		for _, p := range list {
			watch.now = watch.now.Add(time.Second)
			if err := s.Query(ctx, p.Text, nil, nil); err != nil {
				return demoError(err, p.Text)
			}
		}
	}
	return nil
}

func demoError(err error, sql string) error {
	if e, ok := sqlerr.As(err); ok && e.Pos >= 0 && e.Pos <= len(sql) {
		return fmt.Errorf("%w near %.60q in\n%s", err, sql[e.Pos:], sql)
	}
	return fmt.Errorf("%w in\n%s", err, sql)
}

// demoStep is a piece of SQL that ran at an instant.
type demoStep struct {
	at  time.Time
	sql string
}

// demoSteps reads the script: what stands under "each" repeats for every month, followed by
// what stands under "after" that month.
func demoSteps() []demoStep {
	var head, each []demoStep
	after := map[string][]demoStep{}
	var from, to string
	into := &head
	var extra []demoStep
	month := ""
	flush := func() {
		if month != "" {
			after[month] = extra
		}
		extra = nil
	}
	var raw []string // the repeated part, with its places still open
	for _, l := range strings.Split(demoSQL, "\n") {
		switch {
		case strings.HasPrefix(l, "-- each "):
			w := strings.Fields(l)
			from, to = w[2], w[3]
			into = &each
			continue
		case strings.HasPrefix(l, "-- after "):
			flush()
			month = strings.Fields(l)[2]
			into = &extra
			continue
		}
		if into == &each {
			raw = append(raw, l)
			continue
		}
		addDemoLine(into, l)
	}
	flush()
	steps := head
	first := 1
	steps = append(steps, demoDays()...)
	for m := parseMonth(from); !m.After(parseMonth(to)); m = m.AddDate(0, 1, 0) {
		fill := strings.NewReplacer("{month}", m.Format("2006-01"), "{next}", m.AddDate(0, 1, 0).Format("2006-01"),
			"{first}", strconv.Itoa(first), "{rows}", strconv.Itoa(demoRows))
		var part []demoStep
		for _, l := range raw {
			addDemoLine(&part, fill.Replace(l))
		}
		steps = append(append(steps, part...), after[m.Format("2006-01")]...)
		first += 2 * demoRows
	}
	return steps
}

// demoDays is a table that nobody takes care of: a year of small commits, one every other day.
func demoDays() []demoStep {
	start := time.Date(2025, 9, 1, 23, 0, 0, 0, time.UTC)
	steps := []demoStep{{at: start, sql: `CREATE TABLE bronze.page_view (viewed_at timestamptz NOT NULL, visitor bigint NOT NULL, page text NOT NULL, millis int)
		COMMENT 'A year of small commits'`}}
	for d := 0; d < 365; d += 2 {
		day := start.AddDate(0, 0, d)
		steps = append(steps, demoStep{at: day, sql: fmt.Sprintf(`INSERT INTO bronze.page_view
			SELECT TIMESTAMPTZ '%s 00:00:00+00' + i * INTERVAL '14 minutes', 1 + (i * 31 + %d) %% 900, '/item/' || (i * 17 + %d) %% 60, 20 + i * 37 %% 400
			FROM generate_series(0, 199) AS g(i)`, day.Format("2006-01-02"), d*7, d)})
	}
	return steps
}

func parseMonth(s string) time.Time {
	t, _ := time.Parse("2006-01", s)
	return t
}

// addDemoLine adds a line of the script to the last step, or begins one at a time.
func addDemoLine(steps *[]demoStep, l string) {
	if at, ok := strings.CutPrefix(l, "-- at "); ok {
		t, err := time.Parse(time.RFC3339, strings.TrimSpace(at))
		if err != nil {
			panic("demo.sql: " + err.Error())
		}
		*steps = append(*steps, demoStep{at: t})
		return
	}
	if strings.HasPrefix(l, "-- ") {
		return
	}
	if len(*steps) == 0 {
		*steps = append(*steps, demoStep{})
	}
	s := &(*steps)[len(*steps)-1]
	s.sql += l + "\n"
}
