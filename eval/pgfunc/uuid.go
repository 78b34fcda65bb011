package pgfunc

import (
	"crypto/rand"
	"encoding/binary"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
)

func registerUuid() {
	for _, n := range []string{"gen_random_uuid", "uuid_generate_v4"} {
		eval.Register(eval.Volatile(n, nil, eval.TUUID, eval.Ask0(randomUUID)))
	}
}

// randomUUID is a version 4 UUID (RFC 9562, section 5.4).
func randomUUID(*eval.Ctx) (types.Int128, error) {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return types.Int128{Hi: int64(binary.BigEndian.Uint64(b[:8])), Lo: binary.BigEndian.Uint64(b[8:])}, nil
}
