package pg

import "github.com/xdg-go/stringprep"

// saslPrep normalises a password (RFC 4013); one that it refuses is taken as it is, as
// PostgreSQL does.
func saslPrep(password string) string {
	if p, err := stringprep.SASLprep.Prepare(password); err == nil {
		return p
	}
	return password
}
