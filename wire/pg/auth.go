package pg

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/xdg-go/scram"
)

// Auth decides who may connect. With no users, connections from loopback are trusted and all
// others refused.
type Auth struct {
	// Lookup gives the stored verifier of a user: "SCRAM-SHA-256$…" as PostgreSQL's pg_authid
	// has it, or "md5…". ok false: no such user. nil: no users are configured.
	Lookup func(user string) (verifier string, ok bool)
	// AllowMD5 lets users whose verifier is md5 log in by the md5 method.
	AllowMD5 bool
	// AllowPlain lets a client without SCRAM send its password over TLS.
	AllowPlain bool
	// RequireTLS refuses whoever does not ask for encryption.
	RequireTLS bool
	// TrustLoopback lets loopback connections in without a password although users exist.
	TrustLoopback bool
}

// scramIterations is PostgreSQL's default (scram_iterations).
const scramIterations = 4096

// Verifier makes the SCRAM-SHA-256 verifier of a password in PostgreSQL's form:
// SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey (RFC 5803).
func Verifier(password string) (string, error) {
	salt := make([]byte, 16)
	if _, err := rand.Read(salt); err != nil {
		return "", err
	}
	return verifier(password, salt, scramIterations)
}

func verifier(password string, salt []byte, iterations int) (string, error) {
	salted, err := pbkdf2.Key(sha256.New, saslPrep(password), salt, iterations, sha256.Size)
	if err != nil {
		return "", err
	}
	stored := sha256.Sum256(mac(salted, "Client Key"))
	enc := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, enc(salt), enc(stored[:]), enc(mac(salted, "Server Key"))), nil
}

// CheckVerifier tells whether a stored verifier is one: SCRAM-SHA-256 or md5, as PostgreSQL has them.
func CheckVerifier(v string) error {
	if rest, ok := strings.CutPrefix(v, "md5"); ok {
		if b, err := hex.DecodeString(rest); err != nil || len(b) != md5.Size {
			return errors.New("the stored verifier is not md5")
		}
		return nil
	}
	_, err := parseVerifier(v)
	return err
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// parseVerifier reads a SCRAM verifier.
func parseVerifier(v string) (scram.StoredCredentials, error) {
	bad := errors.New("the stored verifier is not SCRAM-SHA-256")
	rest, ok := strings.CutPrefix(v, "SCRAM-SHA-256$")
	if !ok {
		return scram.StoredCredentials{}, bad
	}
	params, keys, ok1 := strings.Cut(rest, "$")
	iter, salt64, ok2 := strings.Cut(params, ":")
	stored64, server64, ok3 := strings.Cut(keys, ":")
	n, err := strconv.Atoi(iter)
	if !ok1 || !ok2 || !ok3 || err != nil || n < 1 {
		return scram.StoredCredentials{}, bad
	}
	salt, e1 := base64.StdEncoding.DecodeString(salt64)
	stored, e2 := base64.StdEncoding.DecodeString(stored64)
	server, e3 := base64.StdEncoding.DecodeString(server64)
	if e1 != nil || e2 != nil || e3 != nil || len(stored) != sha256.Size || len(server) != sha256.Size {
		return scram.StoredCredentials{}, bad
	}
	return scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: string(salt), Iters: n}, StoredKey: stored, ServerKey: server,
	}, nil
}

// mockVerifier stands in for an unknown user, so that whether a user exists cannot be seen from
// the exchange: the salt is a function of the name and a secret of this process.
func mockVerifier(user string) scram.StoredCredentials {
	salt := mac(processSecret[:], "salt "+user)[:16]
	key := mac(processSecret[:], "key "+user)
	return scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: string(salt), Iters: scramIterations}, StoredKey: key, ServerKey: key,
	}
}

var processSecret = func() (s [32]byte) {
	if _, err := rand.Read(s[:]); err != nil {
		panic(err) // no randomness, no authentication
	}
	return s
}()

// CheckPassword tells whether the password is the one that the verifier was made of.
func CheckPassword(verifier, user, password string) bool { return checkPlain(verifier, user, password) }

// checkPlain tells whether password fits the verifier.
func checkPlain(v, user, password string) bool {
	if strings.HasPrefix(v, "md5") {
		return subtle.ConstantTimeCompare([]byte(v), []byte(md5Verifier(user, password))) == 1
	}
	c, err := parseVerifier(v)
	if err != nil {
		return false
	}
	w, err := verifier(password, []byte(c.Salt), c.Iters)
	return err == nil && subtle.ConstantTimeCompare([]byte(v), []byte(w)) == 1
}

func md5Verifier(user, password string) string { return "md5" + md5Hex(password+user) }

func md5Hex(s string) string {
	h := md5.Sum([]byte(s))
	return hex.EncodeToString(h[:])
}
