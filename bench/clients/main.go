// Command clients presses `lhsql serve` with many clients at once and says what broke.
//
//	go build -o /tmp/lhsql ./cmd/lhsql
//	go run ./bench/clients --lhsql /tmp/lhsql                       # a minute over the demo
//	go run ./bench/clients --lhsql /tmp/lhsql --mysql               # the same by the MySQL wire
//	go run ./bench/clients --lhsql /tmp/lhsql --warehouse W --queries bench/tpch/queries
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/lhsql/lhsql/bench/clients/load"
)

func main() {
	lhsql := flag.String("lhsql", "lhsql", "the program")
	warehouse := flag.String("warehouse", "", "a warehouse to serve; the demo's in a temporary folder when empty")
	queries := flag.String("queries", "", "folder of more questions, one a file")
	mysql := flag.Bool("mysql", false, "clients of the MySQL wire instead of the Postgres wire")
	idle := flag.Int("idle", 200, "idle clients")
	busy := flag.Int("busy", 20, "busy clients")
	seconds := flag.Int("seconds", 60, "how long")
	memory := flag.Int64("memory", 1024, "the server's memory limit, MB")
	seed := flag.Int64("seed", time.Now().UnixNano(), "for the dice")
	flag.Parse()
	problems, err := run(*lhsql, *warehouse, *queries, *memory<<20, load.Config{MySQL: *mysql, Idle: *idle, Busy: *busy,
		Duration: time.Duration(*seconds) * time.Second, Seed: *seed, Out: os.Stdout})
	if err != nil {
		problems = append(problems, err.Error())
	}
	for _, p := range problems {
		fmt.Println("PROBLEM:", p)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
	fmt.Println("\nnothing is wrong")
}

func run(lhsql, warehouse, queries string, memory int64, cfg load.Config) ([]string, error) {
	folder, err := os.MkdirTemp("", "lhsql-load-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	verb := "serve"
	if warehouse == "" {
		verb, warehouse = "demo", filepath.Join(folder, "lakehouse")
		cfg.Queries = append(cfg.Queries,
			"select region, status, count(*), sum(amount) from silver.order_item group by 1, 2 order by 1, 2",
			"select * from silver.order_item order by order_item_id",
			"select count(*), sum(amount) from silver.order_item for system_time as of '2026-06-15'")
		if !cfg.MySQL {
			cfg.Queries = append(cfg.Queries, "select date_trunc('month', order_time) as m, count(distinct customer_token) from silver.order_item group by 1 order by 1")
		} else {
			cfg.Queries = append(cfg.Queries, "select date_format(order_time, '%Y-%m') as m, count(distinct customer_token) from silver.order_item group by 1 order by 1")
		}
	}
	more, err := filepath.Glob(filepath.Join(queries, "*.sql"))
	if err != nil {
		return nil, err
	}
	for _, f := range more {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		cfg.Queries = append(cfg.Queries, string(b))
	}
	start := func() (*load.Server, error) {
		cmd := exec.Command(lhsql, verb)
		verb = "serve" // the demo's tables are made once
		return load.Start(cmd, folder, memory, "--warehouse", warehouse, "--max_connections", fmt.Sprint(cfg.Idle+2*cfg.Busy+10))
	}
	if cfg.Server, err = start(); err != nil {
		return nil, err
	}
	defer cfg.Server.Stop()
	problems, err := load.Run(context.Background(), cfg)
	if err != nil {
		return problems, err
	}
	cfg.Server.Stop()
	fmt.Println("\nending servers at work: SIGTERM, SIGTERM twice, SIGINT")
	more, err = load.Shutdowns(context.Background(), cfg.Wire(), start)
	return append(problems, more...), err
}
