package store

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A store's errors, and those of the network before it, are told without keys, tokens and signatures.
func TestS3ErrorsHoldNoSecrets(t *testing.T) {
	was := storePause
	storePause = time.Millisecond
	t.Cleanup(func() { storePause = was })
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `<Error><Code>SignatureDoesNotMatch</Code><Message>refused: %s with %s, key KEYKEYKEY, secret SECRETSECRET at https://proxy/x?X-Amz-Signature=SIGSIG</Message></Error>`,
			r.Header.Get("Authorization"), r.Header.Get("X-Amz-Security-Token"))
	}))
	defer store.Close()
	away := httptest.NewServer(nil)
	away.Close()
	for what, endpoint := range map[string]string{"refuses": store.URL, "is away": away.URL + "/base?token=TOKTOK"} {
		s := New(map[string]string{"s3.endpoint": endpoint, "s3.access-key-id": "KEYKEYKEY", "s3.secret-access-key": "SECRETSECRET", "s3.session-token": "TOKENTOKEN"})
		ctx := context.Background()
		_, read := s.ReadAll(ctx, "s3://b/x/y")
		_, open := s.Open(ctx, "s3://b/x/y", -1)
		for op, err := range map[string]error{"read": read, "open": open, "create": s.Create(ctx, "s3://b/x/z", []byte("1")), "remove": s.Remove(ctx, "s3://b/x/y"),
			"list": s.List(ctx, "s3://b/x", func(Object) error { return nil })} {
			if err == nil {
				t.Errorf("a store that %s is read: %s", what, op)
				continue
			}
			for _, secret := range []string{"KEYKEY", "SECRETSECRET", "TOKENTOKEN", "SIGSIG", "TOKTOK"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%s, and the store %s: %s is in %v", op, what, secret, err)
				}
			}
		}
	}
}
