package store

import (
	"path"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Canonical gives the one spelling of a location: an absolute or relative local path without
// scheme, "." and "..", or "s3://bucket/key". Local paths are literal: "%3A" in a partition
// folder is three characters of its name, also after "file:".
func Canonical(loc string) string {
	scheme, rest := SplitScheme(loc)
	switch scheme {
	case "file":
		if after, ok := strings.CutPrefix(rest, "//"); ok {
			// file:///x and file://localhost/x; file://x/y has a host that cannot be ours, but
			// some writers put a relative path there.
			after = strings.TrimPrefix(after, "localhost")
			rest = after
		}
		return path.Clean(rest)
	case "":
		return path.Clean(loc)
	case "s3a", "s3n":
		scheme = "s3"
	}
	return scheme + ":" + rest
}

// SplitScheme cuts "scheme:" off. One letter is no scheme but a drive.
func SplitScheme(loc string) (scheme, rest string) {
	i := strings.IndexByte(loc, ':')
	if i < 2 {
		return "", loc
	}
	for _, c := range loc[:i] {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '-', c == '.':
		default:
			return "", loc
		}
	}
	return strings.ToLower(loc[:i]), loc[i+1:]
}

// IsObject tells whether a canonical location is in an object store.
func IsObject(loc string) bool {
	scheme, _ := SplitScheme(loc)
	return scheme != "" && strings.Contains(loc, "://")
}

// Under gives what follows the folder prefix in loc, both canonical; ok false if loc is not in it.
func Under(loc, prefix string) (rest string, ok bool) {
	if loc == prefix {
		return "", true
	}
	prefix = strings.TrimSuffix(prefix, "/")
	rest, ok = strings.CutPrefix(loc, prefix+"/")
	return rest, ok
}

func Join(base, rest string) string {
	if rest == "" {
		return base
	}
	return strings.TrimSuffix(base, "/") + "/" + rest
}

// Parent is the folder of a canonical location.
func Parent(loc string) string {
	i := strings.LastIndexByte(loc, '/')
	switch {
	case i < 0:
		return "."
	case i == 0:
		return "/"
	case strings.HasSuffix(loc[:i+1], "://"):
		return loc
	}
	return loc[:i]
}

// outside is the refusal of a location that no allowed prefix covers (V7).
func outside(loc string) error {
	return sqlerr.New(sqlerr.InsufficientPrivilege, "location %s lies outside of the places this table may use", loc).
		WithHint("The table's own folder and the catalog's warehouse are allowed; the catalog property lhsql.allowed-locations adds others.")
}

// Allowed checks a canonical location against prefixes. ".." in an object key is refused: some
// stores and proxies resolve it.
func Allowed(loc string, prefixes []string) error {
	if IsObject(loc) && (strings.Contains(loc, "/../") || strings.HasSuffix(loc, "/..")) {
		return outside(loc)
	}
	for _, p := range prefixes {
		if _, ok := Under(loc, p); ok {
			return nil
		}
	}
	return outside(loc)
}
