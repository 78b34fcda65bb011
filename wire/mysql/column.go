package mysql

import (
	"strings"

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
	if t.MySQL != nil {
		c.declared(t)
		c.mark(col.NotNull || o.NotNull)
		return c
	}
	if p, ok := t.SecondDigits(); ok {
		switch t.Kind {
		case types.Time:
			instant(typeTime, fractionLength(10, p), byte(p))
		case types.Timestamp:
			instant(typeDatetime, fractionLength(19, p), byte(p))
		case types.TimestampTZ:
			instant(typeTimestamp, fractionLength(19, p), byte(p))
		}
		if c.typ != 0 {
			c.mark(col.NotNull || o.NotNull)
			return c
		}
	}
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
	c.mark(col.NotNull || o.NotNull)
	return c
}

// mark sets the flags that a table's column has whatever its type.
func (c *column) mark(notNull bool) {
	if notNull {
		c.flags |= flagNotNull
	}
	if c.Key {
		c.flags |= flagPrimary
	}
}

// fractionLength is the display length of a time with p digits after the second.
func fractionLength(whole uint32, p int) uint32 {
	if p == 0 {
		return whole
	}
	return whole + 1 + uint32(p)
}

// declared describes a column whose type was declared in MySQL's terms.
func (c *column) declared(t types.Type) {
	m := t.MySQL
	number := func(typ byte, length uint32) { c.typ, c.length, c.flags = typ, length, flagBinary|flagNumber }
	text := func(typ byte, length uint32, flags uint16) {
		c.typ, c.length, c.flags, c.collation = typ, length, flags, collationText
		if strings.HasSuffix(m.Collation, "_bin") {
			c.flags |= flagBinary
		}
	}
	switch m.Name {
	case "tinyint":
		if number(typeTiny, 4); m.Width == 1 {
			c.length = 1
		}
	case "smallint":
		number(typeShort, 6)
	case "mediumint":
		number(typeInt24, 9)
	case "int":
		number(typeLong, 11)
	case "bigint":
		number(typeLongLong, 20)
	case "decimal":
		number(typeNewDecimal, uint32(t.Prec)+1)
		if c.decimals = byte(t.Scale); t.Scale > 0 {
			c.length++
		}
	case "float":
		number(typeFloat, 12)
		c.decimals = notFixed
	case "double":
		number(typeDouble, 22)
		c.decimals = notFixed
	case "bit":
		c.typ, c.length, c.flags = typeBit, uint32(m.Width), flagUnsigned
	case "year":
		c.typ, c.length, c.flags = typeYear, 4, flagUnsigned|flagZerofill|flagNumber
	case "enum":
		text(typeString, uint32(m.Longest())*4, flagEnum)
	case "set":
		text(typeString, uint32(m.Longest())*4, flagSet)
	case "char":
		text(typeString, uint32(t.Prec)*4, 0)
	case "varchar":
		text(typeVarString, uint32(t.Prec)*4, 0)
	case "tinytext":
		text(typeBlob, 255*4, flagBlob)
	case "text":
		text(typeBlob, 65535*4, flagBlob)
	case "mediumtext":
		text(typeBlob, (1<<24-1)*4, flagBlob)
	case "json":
		c.typ, c.length, c.flags = typeJSON, longText, flagBlob|flagBinary
	case "binary":
		c.typ, c.length, c.flags = typeString, uint32(m.Width), flagBinary
	case "varbinary":
		c.typ, c.length, c.flags = typeVarString, uint32(m.Width), flagBinary
	case "tinyblob":
		c.typ, c.length, c.flags = typeBlob, 255, flagBlob|flagBinary
	case "blob":
		c.typ, c.length, c.flags = typeBlob, 65535, flagBlob|flagBinary
	case "mediumblob":
		c.typ, c.length, c.flags = typeBlob, 1<<24-1, flagBlob|flagBinary
	case "longblob":
		c.typ, c.length, c.flags = typeBlob, longText, flagBlob|flagBinary
	default:
		text(typeBlob, longText, flagBlob)
	}
	if m.Unsigned {
		c.flags |= flagUnsigned
		switch c.typ {
		case typeFloat, typeDouble, typeLongLong:
		default:
			c.length-- // there is no sign to show
		}
	}
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
