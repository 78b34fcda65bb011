package main

import (
	"bytes"
	"context"
	"testing"
)

func TestRun(t *testing.T) {
	const want = `3 rows written
cup: 1 for 9.99
tea: 2 for 7.10
a batch of 2 columns, 3 rows
SELECT 3
`
	dir := t.TempDir()
	for range 2 { // a second run finds the first one's table
		var out bytes.Buffer
		if err := run(context.Background(), dir, &out); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("got:\n%s", out.String())
		}
	}
}
