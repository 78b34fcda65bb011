package lake

import (
	"context"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

func newS3(ctx context.Context, props map[string]string) (FS, error) {
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "object stores are not supported yet")
}
