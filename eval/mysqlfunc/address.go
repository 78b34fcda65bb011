package mysqlfunc

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// UUIDs and network addresses of MySQL's dialect: as text, and as the binary strings that columns
// of 16 bytes hold.
func registerAddress() {
	const b, text = types.Bytea, types.Text
	no := func(s string) ([]byte, error) { return uuidToBin(s, false) }
	eval.Register(
		eval.Volatile("mysql:uuid", nil, eval.TText, eval.Ask0(func(*eval.Ctx) (string, error) { return timeUUID(), nil })),
		eval.Volatile("mysql:uuid_short", nil, eval.TInt8, eval.Ask0(func(*eval.Ctx) (int64, error) { return shortUUID.Add(1) & 0x7fffffffffffffff, nil })),
		eval.Immutable("mysql:uuid_to_bin", eval.Sig(text), eval.TBytea, eval.Try1(no)),
		eval.Immutable("mysql:uuid_to_bin", eval.Sig(text, types.Bool), eval.TBytea, eval.Try2(uuidToBin)),
		eval.Immutable("mysql:bin_to_uuid", eval.Sig(b), eval.TText, eval.Try1(func(s []byte) (string, error) { return binToUUID(s, false) })),
		eval.Immutable("mysql:bin_to_uuid", eval.Sig(b, types.Bool), eval.TText, eval.Try2(binToUUID)),
		eval.Immutable("mysql:inet6_aton", eval.Sig(text), eval.TBytea, eval.Fn1(inet6Aton)).NeverFails(),
		eval.Immutable("mysql:inet6_ntoa", eval.Sig(b), eval.TText, eval.Fn1(inet6Ntoa)).NeverFails(),
		eval.Immutable("mysql:is_ipv4", eval.Sig(text), eval.TBool, isAddress(func(s string) bool { a, ok := address(s); return ok && a.Is4() })).CalledOnNull(),
		eval.Immutable("mysql:is_ipv6", eval.Sig(text), eval.TBool, isAddress(func(s string) bool { a, ok := address(s); return ok && a.Is6() })).CalledOnNull(),
		eval.Immutable("mysql:is_ipv4_compat", eval.Sig(b), eval.TBool, isAddress(func(s string) bool {
			return len(s) == 16 && s[:12] == string(make([]byte, 12)) && binary.BigEndian.Uint32([]byte(s[12:])) > 1
		})).CalledOnNull(),
		eval.Immutable("mysql:is_ipv4_mapped", eval.Sig(b), eval.TBool, isAddress(func(s string) bool {
			return len(s) == 16 && s[:10] == string(make([]byte, 10)) && s[10] == 0xff && s[11] == 0xff
		})).CalledOnNull(),
		eval.Immutable("mysql:format_bytes", eval.Sig(types.Float8), eval.TText, eval.Fn1(func(f float64) string {
			return inUnits(f, 1024, "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
		})).NeverFails(),
		eval.Immutable("mysql:format_pico_time", eval.Sig(types.Float8), eval.TText, eval.Fn1(picoTime)).NeverFails(),
	)
}

// isAddress makes a question whose answer for NULL is no.
func isAddress(f func(s string) bool) eval.Row {
	return func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
		return types.NewBool(!a[0].IsNull() && f(a[0].Str())), nil
	}
}

// timeNode and timeClock are the parts of a UUID of version 1 that this process keeps.
var (
	timeNode  [8]byte
	timeOnce  sync.Once
	timeLast  atomic.Int64
	shortUUID atomic.Int64
)

func registerAddress2() {
	shortUUID.Store(1<<56 | time.Now().Unix()<<24)
}

// timeUUID makes a UUID of version 1: of the time and a random node.
func timeUUID() string {
	timeOnce.Do(func() {
		_, _ = rand.Read(timeNode[:])
		timeNode[2] |= 1 // no real network card has this bit
	})
	t := time.Now().UnixNano()/100 + 0x01b21dd213814000
	for {
		last := timeLast.Load()
		t = max(t, last+1)
		if timeLast.CompareAndSwap(last, t) {
			break
		}
	}
	var u [16]byte
	binary.BigEndian.PutUint32(u[:], uint32(t))
	binary.BigEndian.PutUint16(u[4:], uint16(t>>32))
	binary.BigEndian.PutUint16(u[6:], uint16(t>>48)&0x0fff|0x1000)
	copy(u[8:], timeNode[:])
	u[8] = u[8]&0x3f | 0x80
	s, _ := binToUUID(u[:], false)
	return s
}

// uuidToBin puts the time's high part first where swapped is set, so that such keys ascend.
func uuidToBin(s string, swapped bool) ([]byte, error) {
	u, err := types.ParseUUID(s)
	if err != nil {
		return nil, sqlerr.New(sqlerr.InvalidTextRepresentation, "Incorrect string value: '%s' for function uuid_to_bin", s).WithNumber(1411)
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(u.Hi))
	binary.BigEndian.PutUint64(b[8:], u.Lo)
	if swapped {
		return append(append(append(append([]byte{}, b[6:8]...), b[4:6]...), b[:4]...), b[8:]...), nil
	}
	return b[:], nil
}

func binToUUID(b []byte, swapped bool) (string, error) {
	if len(b) != 16 {
		return "", sqlerr.New(sqlerr.InvalidTextRepresentation, "Incorrect string value for function bin_to_uuid: it has %d bytes and not 16", len(b)).WithNumber(1411)
	}
	if swapped {
		b = append(append(append(append([]byte{}, b[4:8]...), b[2:4]...), b[:2]...), b[8:]...)
	}
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], nil
}

// address reads an address without a zone.
func address(s string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(s)
	return a, err == nil && a.Zone() == ""
}

func inet6Aton(s string) types.Datum {
	a, ok := address(s)
	if !ok {
		return types.Null
	}
	return types.NewStr(string(a.AsSlice()))
}

// inet6Ntoa writes the last four bytes of ::ffff:1.2.3.4 and ::1.2.3.4 as an IPv4 address.
func inet6Ntoa(b []byte) types.Datum {
	a, ok := netip.AddrFromSlice(b)
	switch {
	case !ok:
		return types.Null
	case len(b) == 16 && string(b[:12]) == string(make([]byte, 12)) && (b[12] != 0 || b[13] != 0):
		return types.NewStr("::" + netip.AddrFrom4([4]byte(b[12:])).String())
	}
	return types.NewStr(a.String())
}

// inUnits writes f with the largest unit of which there is one, each size times the one before.
func inUnits(f, size float64, units ...string) string {
	i := 0
	for ; i < len(units)-1 && (f >= size || f <= -size); i++ {
		f /= size
	}
	if i == 0 {
		s := strconv.FormatFloat(f, 'f', 0, 64)
		return strings.Repeat(" ", max(0, 4-len(s))) + s + " " + units[0]
	}
	return strconv.FormatFloat(f, 'f', 2, 64) + " " + units[i]
}

func picoTime(f float64) string {
	a := max(f, -f)
	for _, u := range []struct {
		from float64
		name string
	}{{86400e12, "d"}, {3600e12, "h"}, {60e12, "min"}, {1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}} {
		if a >= u.from {
			return strconv.FormatFloat(f/u.from, 'f', 2, 64) + " " + u.name
		}
	}
	return inUnits(f, 1e30, "ps")
}
