package pg

import (
	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// query serves the simple protocol: statements one after another in one implicit transaction,
// up to the first error, one ReadyForQuery at the end.
func (c *conn) query(text string) {
	c.stmtText = text
	c.last = false
	c.closePortal("")
	if err := c.queryAll(text); err != nil {
		c.fail(err)
		c.sess.EndImplicit(c.ctx)
	} else if err := c.sess.EndImplicit(c.ctx); err != nil {
		c.sendError("ERROR", err)
	}
	if c.sess.Status() == 'I' {
		c.closePortals()
	}
	c.ready()
	c.w.flush()
	c.stmtText = ""
}

func (c *conn) queryAll(text string) error {
	list, err := c.sess.Parse(text)
	if err != nil {
		return err
	}
	for i, p := range list {
		if len(list) > 1 {
			c.sess.BeginImplicit()
			c.last = i == len(list)-1
		}
		if err := c.queryOne(p); err != nil {
			return shifted(err, p.Offset)
		}
	}
	if len(list) == 0 {
		c.w.begin('I')
		c.w.end()
	}
	return nil
}

func (c *conn) queryOne(p engine.Parsed) error {
	st, err := c.sess.Prepare(c.ctx, p, nil)
	if err != nil {
		return err
	}
	if st.Empty() {
		c.w.begin('I')
		c.w.end()
		return nil
	}
	if len(st.Params()) > 0 {
		return sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $1")
	}
	if cp := st.Copy(); cp != nil && cp.In {
		return c.copyIn(st, nil)
	}
	res, err := st.Execute(c.ctx, nil)
	if err != nil {
		return err
	}
	defer res.Close()
	if cp := st.Copy(); cp != nil {
		return c.copyOut(res, cp)
	}
	if cols := res.Columns(); cols != nil {
		if err := c.rows(res, cols); err != nil {
			return err
		}
	} else if err := drainRows(c.ctx, res); err != nil {
		return err
	}
	return c.complete(res, res.RowCount())
}

// complete closes a result and sends its notices and command tag with the number of rows.
func (c *conn) complete(res *engine.Result, rows int64) error {
	if err := res.Close(); err != nil {
		return err
	}
	if c.last {
		if err := c.sess.CommitImplicit(c.ctx, res); err != nil {
			return err
		}
	}
	c.notices(res.Notices())
	c.w.begin('C')
	c.w.cstring(res.TagFor(rows))
	c.w.end()
	return nil
}
