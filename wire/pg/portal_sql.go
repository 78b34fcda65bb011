package pg

import (
	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// sqlPortal is a portal as SQL's FETCH and MOVE see it: portals and cursors share their names
// (asyncpg moves its portals by SQL).
type sqlPortal struct {
	c *conn
	p *portal
}

func (c *conn) sqlPortal(name string) engine.Portal {
	if p := c.portals[name]; p != nil && name != "" && p.p.stmt.Columns() != nil {
		return sqlPortal{c, p}
	}
	return nil
}

func (s sqlPortal) Columns() []engine.ResultColumn { return s.p.p.stmt.Columns() }

// Take implements engine.Portal.
func (s sqlPortal) Take(n int64) ([][]types.Datum, error) {
	p := s.p
	if p.res == nil && !p.ended {
		res, err := p.p.stmt.Execute(s.c.ctx, p.args)
		if err != nil {
			return nil, err
		}
		p.res = res
		p.enc = newEncoders(res.Columns(), p.formats, s.c.sess.TextOptions())
	}
	var out [][]types.Datum
	for int64(len(out)) < n && !p.ended {
		if p.batch == nil {
			b, err := p.res.Next(s.c.ctx)
			if err != nil {
				return nil, err
			}
			if b == nil {
				p.ended = true
				return out, p.res.Close()
			}
			p.batch, p.row = b, 0
		}
		i := p.row
		if p.batch.Sel != nil {
			i = int(p.batch.Sel[p.row])
		}
		row := make([]types.Datum, len(p.batch.Cols))
		for j, v := range p.batch.Cols {
			row[j] = v.Datum(i)
		}
		out = append(out, row)
		if p.row++; p.row >= p.batch.Len() {
			p.batch = nil
		}
	}
	p.sent += int64(len(out))
	return out, nil
}

// describeCursor answers Describe of a portal that SQL's DECLARE made (psycopg's server cursors).
func (c *conn) describeCursor(name string) error {
	cols, ok := c.sess.CursorColumns(name)
	if !ok {
		return sqlerr.New(sqlerr.InvalidCursorName, "portal %q does not exist", name)
	}
	c.describeColumns(cols, nil)
	return nil
}
