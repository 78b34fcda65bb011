package load

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// Postgres is the Postgres wire.
var Postgres = &Wire{
	Name: "postgres",
	open: func(ctx context.Context, addr, name string) (peer, error) {
		pc, err := pgconn.Connect(ctx, fmt.Sprintf("postgres://load@%s/lake?sslmode=disable&application_name=%s", addr, name))
		if err != nil {
			return nil, err
		}
		return &pgPeer{PgConn: pc}, nil
	},
	questions: []string{
		"select g % 1000 as k, count(*), sum(g), min(g::text) from generate_series(1, 60000) g group by k order by k",
		"select g, md5(g::text) as h from generate_series(1, 30000) g order by h",
		"select count(*), sum(a.g) from generate_series(1, 40000) a(g) join generate_series(1, 40000) b(g) on a.g = b.g * 2",
		"select k, g, sum(g) over (partition by k order by g) from (select g % 100 as k, g from generate_series(1, 20000) g) x order by k, g",
		"select count(distinct md5((g % 9000)::text)) from generate_series(1, 40000) g",
		"select c.relname, a.attname, format_type(a.atttypid, a.atttypmod) from pg_class c join pg_attribute a on a.attrelid = c.oid join pg_namespace n on n.oid = c.relnamespace where n.nspname not in ('pg_catalog', 'information_schema', 'load') order by 1, 2",
	},
	endless: []string{
		"select count(*) from generate_series(1, 1000000000) a where a % 7 = 3",
		"select a.g, b.g from generate_series(1, 3000000) a(g) join generate_series(1, 3000000) b(g) on a.g = b.g::bigint * b.g order by 1 offset 100000",
		"select pg_sleep(600)",
		"select count(*) from pg_class a, pg_class b, pg_class c, pg_class d",
	},
	large:     "select g, repeat('x', 1000) from generate_series(1, 60000) g order by g desc",
	largeRows: 60000,
	sleep:     "select pg_sleep(3)",
	limited:   "set statement_timeout = %d",
	schema:    "create schema if not exists load",
	changes: func(table string) []step {
		return []step{
			{"drop table if exists " + table, ""},
			{"create table " + table + " as select g as id, md5(g::text) as v from generate_series(1, 2000) g", ""},
			{"delete from " + table + " where id % 2 = 0", ""},
			{"update " + table + " set v = 'x' where id < 100", ""},
			{"select count(*), count(*) filter (where v = 'x') from " + table, "1000 50"},
		}
	},
	made:     []string{"create schema if not exists bye", "create table if not exists bye.t (g bigint, v text)"},
	written:  "insert into bye.t select g, md5(g::text) from generate_series(1, 400000) g",
	inserted: 400000,
	sessions: "select count(*) from pg_stat_activity where application_name = '%s'",
	others:   "select application_name, state, query from pg_stat_activity where pid <> pg_backend_pid()",

	cancelled: "57014", timedOut: "57014", full: "53300", ended: "57P01", refused: "57P03",
}

// pgPeer is pgx's connection.
type pgPeer struct {
	*pgconn.PgConn
	prepared bool
}

func (p *pgPeer) query(ctx context.Context, sql string, row func([][]byte) bool) error {
	m := p.Exec(ctx, sql)
	for m.NextResult() {
		r := m.ResultReader()
		for r.NextRow() {
			if !row(r.Values()) {
				return nil
			}
		}
	}
	return m.Close()
}

func (p *pgPeer) double(ctx context.Context, n int) (string, error) {
	if !p.prepared {
		if _, err := p.Prepare(ctx, "p", "select $1::int * 2, $2::text", nil); err != nil {
			return "", err
		}
		p.prepared = true
	}
	r := p.ExecPrepared(ctx, "p", [][]byte{fmt.Append(nil, n), []byte("x")}, nil, nil).Read()
	if r.Err != nil || len(r.Rows) != 1 {
		return fmt.Sprintf("%d rows", len(r.Rows)), r.Err
	}
	return string(r.Rows[0][0]), nil
}

func (p *pgPeer) cancel(ctx context.Context) { p.CancelRequest(ctx) }

func (p *pgPeer) unasked(ctx context.Context) error {
	_, err := p.ReceiveMessage(ctx)
	return err
}

func (p *pgPeer) ask(_ context.Context, sql string) error {
	h, err := p.Hijack()
	if err != nil {
		return err
	}
	p.PgConn, err = pgconn.Construct(h)
	if err != nil {
		return err
	}
	msg := binary.BigEndian.AppendUint32([]byte{'Q'}, uint32(4+len(sql)+1))
	_, err = h.Conn.Write(append(append(msg, sql...), 0))
	return err
}

func (p *pgPeer) kill() {
	if tcp, ok := p.Conn().(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	p.Conn().Close()
}

func (p *pgPeer) close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	p.Close(ctx)
}

// stateOf is an error's SQLSTATE, or MySQL's number; "" where it has none.
func stateOf(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	var me *mysqlError
	if errors.As(err, &me) {
		return fmt.Sprint(me.number)
	}
	return ""
}
