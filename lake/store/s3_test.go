package store

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/lake/store/fakes3"
)

// The S3 store keeps FS's promises: whole objects, none replaced, exact reads.
func TestS3(t *testing.T) {
	srv := fakes3.New(nil)
	h := httptest.NewServer(srv)
	defer h.Close()
	props := map[string]string{"s3.endpoint": h.URL, "s3.access-key-id": "k", "s3.secret-access-key": "s"}
	ctx := clock.With(context.Background(), &ticks{})
	files := New(props)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(files.Create(ctx, "s3://b/x/a%3A1", []byte("hello")))
	if err := files.Create(ctx, "s3a://b/x/a%3A1", []byte("other")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an object was replaced: %v", err)
	}
	srv.Lose = true
	must(files.Create(ctx, "s3://b/x/lost", []byte("again"))) // the retry meets its own object
	f, err := files.Open(ctx, "s3://b/x/a%3A1", -1)
	must(err)
	p := make([]byte, 3)
	must(f.ReadAt(ctx, p, 1))
	if string(p) != "ell" || f.Size() != 5 {
		t.Errorf("%q of %d", p, f.Size())
	}
	if err := f.ReadAt(ctx, make([]byte, 4), 3); err == nil {
		t.Error("a short read passed")
	}
	if _, err := files.ReadAll(ctx, "s3://b/x/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing object: %v", err)
	}
	w, err := files.CreateStream(ctx, "s3://b/x/big")
	must(err)
	big := bytes.Repeat([]byte("0123456789"), 4<<20)
	_, err = w.Write(big)
	must(err)
	must(w.Commit(ctx))
	got, err := files.ReadAll(ctx, "s3://b/x/big")
	if err != nil || !bytes.Equal(got, big) {
		t.Errorf("a large object: %d bytes, %v", len(got), err)
	}
	n := 0
	must(files.List(ctx, "s3://b/x", func(Object) error { n++; return nil }))
	if n != 3 {
		t.Errorf("%d objects", n)
	}
	must(files.Remove(ctx, "s3://b/x/big"))
}

// ticks is a clock whose waits take no time.
type ticks struct{ clock.System }

func (*ticks) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }
