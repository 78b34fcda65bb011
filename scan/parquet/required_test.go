package parquet

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// without copies a struct of Thrift's compact protocol, leaving out the field at path, whose steps are
// field ids; of a list every element is meant. It tells how often the field was there.
func without(t *thrift, path []int16) (out []byte, n int) {
	var last, to int16
	for {
		var typ byte
		if typ = t.next(&last); typ == tStop {
			return append(out, tStop), n
		}
		from := t.p
		var body []byte
		switch {
		case len(path) == 0 || path[0] != last:
			t.skip(typ)
			body = t.b[from:t.p]
		case len(path) == 1:
			t.skip(typ)
			n++
			continue
		case typ == tStruct:
			var k int
			body, k = without(t, path[1:])
			n += k
		case typ == tList:
			elem, count := t.list(typ)
			body = t.b[from:t.p:t.p]
			for range count {
				if elem != tStruct {
					panic("not a list of structs")
				}
				b, k := without(t, path[1:])
				body, n = append(body, b...), n+k
			}
		}
		if d := last - to; d > 0 && d < 16 {
			out = append(out, byte(d)<<4|typ)
		} else {
			out = binary.AppendVarint(append(out, typ), int64(last))
		}
		out, to = append(out, body...), last
	}
}

// A field of a footer that the format requires is missed by name, wherever it stands.
func TestRequiredFooterFields(t *testing.T) {
	names, err := filepath.Glob("../testdata/*.parquet")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	structs := []struct {
		s    *structure
		path []int16
	}{
		{fileMetaData, nil}, {schemaElement, []int16{2}}, {rowGroup, []int16{4}}, {columnChunk, []int16{4, 1}}, {columnMetaData, []int16{4, 1, 3}},
		{pageEncodingStats, []int16{4, 1, 3, 13}}, {decimalType, []int16{2, 10, 5}}, {timeType, []int16{2, 10, 7}}, {timestampType, []int16{2, 10, 8}}, {intType, []int16{2, 10, 10}},
	}
	tried := map[string]int{}
	for _, name := range names {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		size := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
		footer := file[len(file)-8-size : len(file)-8]
		if _, err := parseFooter(footer); err != nil {
			continue // a file that is meant to be refused
		}
		for _, x := range structs {
			for left := x.s.required; left != 0; left &= left - 1 {
				id := int16(bits.TrailingZeros64(left))
				less, n := without(&thrift{b: footer}, append(append([]int16{}, x.path...), id))
				if n == 0 {
					continue
				}
				tried[x.s.name]++
				cut := append(append(append([]byte("PAR1"), less...), 0, 0, 0, 0), "PAR1"...)
				binary.LittleEndian.PutUint32(cut[4+len(less):], uint32(len(less)))
				_, err := ReadFooter(context.Background(), bytesFile(cut), nil)
				if want := x.s.name + " lacks " + x.s.field(int(id)); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want: %s", filepath.Base(name), err, want)
				}
			}
		}
	}
	for _, x := range structs {
		if tried[x.s.name] == 0 {
			t.Errorf("no file has a %s", x.s.name)
		}
	}
}

// So are those of a page's header, and of an index.
func TestRequiredPageFields(t *testing.T) {
	// Every field is an i32 of value 1, a list of nothing or an empty struct, as the reader wants it.
	build := func(s *structure, lost int, kinds map[int]byte) []byte {
		var out []byte
		last := 0
		for id := 1; id <= len(s.fields); id++ {
			if id == lost || s.required&(1<<id) == 0 {
				continue
			}
			kind := kinds[id]
			if kind == 0 {
				kind = tI32
			}
			out = append(out, byte(id-last)<<4|kind, map[byte]byte{tI32: 2, tList: 0<<4 | tI64}[kind])
			last = id
		}
		return append(out, tStop)
	}
	lists := map[int]byte{1: tList, 2: tList, 3: tList}
	for _, x := range []struct {
		s     *structure
		kinds map[int]byte
		parse func(b []byte) error
	}{
		{pageHeaderStruct, nil, func(b []byte) error { return headerError(b) }},
		{dataPageHeader, nil, func(b []byte) error { return headerError(inHeader(5, b)) }},
		{dictionaryPageHeader, nil, func(b []byte) error { return headerError(inHeader(7, b)) }},
		{dataPageHeaderV2, nil, func(b []byte) error { return headerError(inHeader(8, b)) }},
		{columnIndex, lists, func(b []byte) error { _, err := parseColumnIndex(b); return err }},
		{pageLocation, nil, func(b []byte) error {
			_, err := parseOffsetIndex(append(append([]byte{1<<4 | tList, 1<<4 | tStruct}, b...), tStop), &Chunk{DataOffset: 1, Compressed: 9}, 9)
			return err
		}},
		{offsetIndex, lists, func(b []byte) error { _, err := parseOffsetIndex(b, &Chunk{}, 9); return err }},
	} {
		for left := x.s.required; left != 0; left &= left - 1 {
			id := bits.TrailingZeros64(left)
			if err, want := x.parse(build(x.s, id, x.kinds)), x.s.name+" lacks "+x.s.field(id); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want: %s", err, want)
			}
		}
	}
	twice := []byte{1<<4 | tI32, 2, 0 | tI32, 2, 2, tStop} // field 1, then field 1 by its full id
	if err := headerError(twice); err == nil || !strings.Contains(err.Error(), "PageHeader has field type twice") {
		t.Errorf("a field that comes twice: %v", err)
	}
}

// inHeader is a page header with b as its variant.
func inHeader(id byte, b []byte) []byte {
	return append(append([]byte{1<<4 | tI32, 0, 1<<4 | tI32, 2, 1<<4 | tI32, 2, (id-3)<<4 | tStruct}, b...), tStop)
}

func headerError(b []byte) error {
	var h pageHeader
	if _, ok, _ := h.parse(b); ok {
		return nil
	}
	if h.why == "" {
		return fmt.Errorf("a page header cannot be read")
	}
	return fmt.Errorf("%s", h.why)
}
