package lake

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// A lean Avro reader for manifests and manifest lists (Avro specification 1.11, "Object
// Container Files"). Records are read field by field, by Iceberg field id, and what is not
// wanted is skipped without allocation: a manifest may list 100,000 files.

type avroKind uint8

const (
	avroNull avroKind = iota
	avroBool
	avroInt
	avroLong
	avroFloat
	avroDouble
	avroBytes
	avroString
	avroFixed
	avroEnum
	avroArray
	avroMap
	avroUnion
	avroRecord
)

var avroPrimitives = map[string]avroKind{"null": avroNull, "boolean": avroBool, "int": avroInt,
	"long": avroLong, "float": avroFloat, "double": avroDouble, "bytes": avroBytes, "string": avroString}

type avroNode struct {
	kind     avroKind
	logical  string
	size     int         // fixed
	elem     *avroNode   // array's items, map's values
	branches []*avroNode // union
	fields   []avroField // record
}

type avroField struct {
	name string
	id   int // Iceberg field id, -1 if none
	node *avroNode
}

type avroParser struct{ named map[string]*avroNode }

const maxAvroDepth = 32

func parseAvroSchema(b []byte) (*avroNode, error) {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, err
	}
	p := avroParser{named: map[string]*avroNode{}}
	return p.node(v, 0)
}

func (p *avroParser) node(v any, depth int) (*avroNode, error) {
	if depth > maxAvroDepth {
		return nil, fmt.Errorf("avro schema is nested too deep")
	}
	switch v := v.(type) {
	case string:
		if k, ok := avroPrimitives[v]; ok {
			return &avroNode{kind: k}, nil
		}
		if n, ok := p.named[v]; ok {
			return n, nil
		}
		return nil, fmt.Errorf("avro schema names an unknown type %q", v)
	case []any:
		n := &avroNode{kind: avroUnion}
		for _, b := range v {
			c, err := p.node(b, depth+1)
			if err != nil {
				return nil, err
			}
			n.branches = append(n.branches, c)
		}
		return n, nil
	case map[string]any:
		return p.complex(v, depth)
	}
	return nil, fmt.Errorf("avro schema is malformed")
}

func (p *avroParser) complex(m map[string]any, depth int) (*avroNode, error) {
	n := &avroNode{}
	n.logical, _ = m["logicalType"].(string)
	if u, ok := m["adjust-to-utc"].(bool); ok && u {
		n.logical += "-utc"
	}
	kind, _ := m["type"].(string)
	name, _ := m["name"].(string)
	switch kind {
	case "record", "error":
		n.kind = avroRecord
		p.named[name] = n
		return n, p.recordFields(n, m, depth)
	case "fixed":
		n.kind = avroFixed
		f, _ := m["size"].(float64)
		if f < 0 || f > 1<<20 {
			return nil, fmt.Errorf("avro fixed of size %v", f)
		}
		n.size = int(f)
		p.named[name] = n
	case "enum":
		n.kind = avroEnum
		p.named[name] = n
	case "array", "map":
		key := "items"
		n.kind = avroArray
		if kind == "map" {
			n.kind, key = avroMap, "values"
		}
		c, err := p.node(m[key], depth+1)
		if err != nil {
			return nil, err
		}
		n.elem = c
	default:
		if k, ok := avroPrimitives[kind]; ok {
			n.kind = k
			return n, nil
		}
		return p.node(m["type"], depth+1)
	}
	return n, nil
}

func (p *avroParser) recordFields(n *avroNode, m map[string]any, depth int) error {
	list, _ := m["fields"].([]any)
	seen := map[int]string{}
	for _, e := range list {
		f, _ := e.(map[string]any)
		c, err := p.node(f["type"], depth+1)
		if err != nil {
			return err
		}
		name, _ := f["name"].(string)
		id := avroID(f["field-id"])
		if other, twice := seen[id]; twice && id >= 0 {
			return fmt.Errorf("fields %s and %s of the avro schema have one field id, %d", other, name, id)
		}
		seen[id] = name
		n.fields = append(n.fields, avroField{name: name, id: id, node: c})
	}
	return nil
}

func avroID(v any) int {
	switch v := v.(type) {
	case float64:
		return int(v)
	case string:
		if n, err := strconv.Atoi(v); err == nil {
			return n
		}
	}
	return -1
}
