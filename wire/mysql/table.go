package mysql

import (
	"strconv"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/types"
)

// sendTable sends the rows of a statement that the wire answers by itself.
func (c *conn) sendTable(l *local, binary bool) error {
	desc := make([]column, len(l.names))
	for i, n := range l.names {
		t := types.T(types.Varchar)
		for _, r := range l.rows {
			if _, ok := r[i].(int64); ok {
				t = types.T(types.Int8)
			}
		}
		desc[i] = describe(engine.ResultColumn{Name: n, Type: t}, engine.Origin{})
	}
	c.columns(desc)
	for _, r := range l.rows {
		c.w.begin()
		if binary {
			c.binaryTableRow(r)
		} else {
			for _, v := range r {
				switch v := v.(type) {
				case nil:
					c.w.byte(0xfb)
				case int64:
					c.w.lenText(strconv.FormatInt(v, 10))
				case string:
					c.w.lenText(v)
				}
			}
		}
		c.w.end()
	}
	c.affected = -1
	c.endRows(0)
	return nil
}

func (c *conn) binaryTableRow(r []any) {
	c.w.byte(0)
	nulls := make([]byte, (len(r)+9)/8)
	for j, v := range r {
		if v == nil {
			nulls[(j+2)/8] |= 1 << ((j + 2) % 8)
		}
	}
	c.w.bytes(nulls)
	for _, v := range r {
		switch v := v.(type) {
		case int64:
			for k := 0; k < 64; k += 8 {
				c.w.byte(byte(v >> k))
			}
		case string:
			c.w.lenText(v)
		}
	}
}
