package mysql

import (
	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/types"
)

// column is a result's column as the protocol describes it (ColumnDefinition41).
type column struct {
	engine.Origin
	name      string
	typ       byte
	collation uint16
	length    uint32
	flags     uint16
	decimals  byte
}

// notFixed is the number of decimals of floats, which have none of their own.
const notFixed = 31

// longText is the length of LONGTEXT and LONGBLOB: Iceberg bounds neither.
const longText = 1<<32 - 1

// describe chooses the MySQL type of a column.
func describe(col engine.ResultColumn, o engine.Origin) column {
	c := column{Origin: o, name: col.Name, collation: collationBinary}
	number := func(typ byte, length uint32) { c.typ, c.length, c.flags = typ, length, flagBinary|flagNumber }
	text := func(typ byte, length uint32) { c.typ, c.length, c.collation = typ, length, collationText }
	instant := func(typ byte, length uint32, decimals byte) {
		c.typ, c.length, c.flags, c.decimals = typ, length, flagBinary, decimals
	}
	t := col.Type
	switch t.Kind {
	case types.Bool:
		number(typeTiny, 1)
	case types.Int2:
		number(typeShort, 6)
	case types.Int4:
		number(typeLong, 11)
	case types.Int8:
		number(typeLongLong, 20)
	case types.Oid, types.Xid:
		number(typeLong, 10)
		c.flags |= flagUnsigned
	case types.Float4:
		number(typeFloat, 12)
		c.decimals = notFixed
	case types.Float8:
		number(typeDouble, 22)
		c.decimals = notFixed
	case types.Numeric:
		number(typeNewDecimal, 67)
		c.decimals = notFixed
		if t.Fixed {
			c.decimals, c.length = byte(max(t.Scale, 0)), uint32(t.Prec)+1
			if t.Scale > 0 {
				c.length++
			}
		}
	case types.Date:
		instant(typeDate, 10, 0)
	case types.Time, types.TimeTZ, types.Interval: // MySQL's TIME is a length of time
		instant(typeTime, 17, 6)
	case types.Timestamp, types.TimestampNS:
		instant(typeDatetime, 26, 6)
	case types.TimestampTZ, types.TimestampTZNS:
		instant(typeTimestamp, 26, 6)
	case types.Bytea:
		c.typ, c.length, c.flags = typeBlob, longText, flagBlob|flagBinary
		if t.Prec > 0 {
			c.typ, c.length, c.flags = typeString, uint32(t.Prec), flagBinary
		}
	case types.UUID:
		text(typeString, 36*4)
	case types.JSON, types.JSONB, types.Variant, types.Array, types.Struct, types.Map, types.Int2Vector, types.OidVector:
		c.typ, c.length, c.flags = typeJSON, longText, flagBlob|flagBinary
	case types.Varchar, types.Bpchar:
		text(typeVarString, 65532)
		if t.Prec > 0 {
			c.length = uint32(t.Prec) * 4
		}
	case types.Text:
		// A stored string may have any length; what a query makes of it shows as VARCHAR.
		text(typeVarString, 65532)
		if o.Table != "" {
			text(typeBlob, longText)
			c.flags = flagBlob
		}
	case types.Void:
		c.typ, c.flags = typeNull, flagBinary
	default:
		text(typeVarString, 65532)
	}
	if col.NotNull {
		c.flags |= flagNotNull
	}
	if o.Key {
		c.flags |= flagPrimary
	}
	return c
}

func describeAll(cols []engine.ResultColumn, origins []engine.Origin) []column {
	out := make([]column, len(cols))
	for i, c := range cols {
		var o engine.Origin
		if i < len(origins) {
			o = origins[i]
		}
		out[i] = describe(c, o)
	}
	return out
}

// columns sends the number of columns and their definitions.
func (c *conn) columns(list []column) {
	c.w.begin()
	c.w.lenInt(uint64(len(list)))
	c.w.end()
	c.definitions(list)
}

// definitions sends column definitions and what ends them.
func (c *conn) definitions(list []column) {
	for i := range list {
		c.w.begin()
		c.definition(&list[i])
		c.w.end()
	}
	if c.caps&capDeprecateEOF == 0 {
		c.eof(0)
	}
}

func (c *conn) definition(d *column) {
	c.w.lenText("def")
	c.w.lenText(d.Database)
	c.w.lenText(d.Table)
	c.w.lenText(d.Table)
	c.w.lenText(d.name)
	c.w.lenText(d.Column)
	c.w.lenInt(0x0c)
	c.w.int16(d.collation)
	c.w.int32(d.length)
	c.w.byte(d.typ)
	c.w.int16(d.flags)
	c.w.byte(d.decimals)
	c.w.int16(0)
}
