package mysql

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"strings"
	"sync"
)

// Auth decides who may connect. With no users, connections from loopback are trusted and all
// others refused.
type Auth struct {
	// Lookup gives what is stored of a user; ok false: no such user. nil: no users are configured.
	Lookup func(user string) (a Account, ok bool)
	// Check tells whether the password is the one that the verifier was made of.
	Check func(verifier, user, password string) bool
	// RequireTLS refuses whoever does not ask for encryption.
	RequireTLS bool
	// TrustLoopback lets loopback connections in without a password although users exist.
	TrustLoopback bool
}

// Account is what is stored of a user's password, never the password itself.
type Account struct {
	// Verifier is for caching_sha2_password, which hands the password over TLS or RSA at a
	// user's first log-in; "" refuses.
	Verifier string
	// Native is SHA1(SHA1(password)) as "*" and 40 hex digits, for mysql_native_password; ""
	// refuses that method.
	Native string
}

// The authentication methods by their names on the wire.
const (
	pluginSHA2   = "caching_sha2_password"
	pluginNative = "mysql_native_password"
)

// NativeHash is the stored form of a password for mysql_native_password.
func NativeHash(password string) string {
	a := sha1.Sum([]byte(password))
	b := sha1.Sum(a[:])
	return "*" + strings.ToUpper(hex.EncodeToString(b[:]))
}

// checkNative verifies SHA1(p) XOR SHA1(salt + SHA1(SHA1(p))) against the stored SHA1(SHA1(p)).
func checkNative(stored string, salt, reply []byte) bool {
	want, err := hex.DecodeString(strings.TrimPrefix(stored, "*"))
	if err != nil || len(want) != sha1.Size || len(reply) != sha1.Size {
		return false
	}
	mask := sha1.Sum(append(append([]byte(nil), salt...), want...))
	stage1 := make([]byte, sha1.Size)
	subtle.XORBytes(stage1, mask[:], reply)
	got := sha1.Sum(stage1)
	return subtle.ConstantTimeCompare(got[:], want) == 1
}

// checkFast verifies SHA256(p) XOR SHA256(SHA256(SHA256(p)) + salt) against SHA256(SHA256(p)).
func checkFast(known [sha256.Size]byte, salt, reply []byte) bool {
	if len(reply) != sha256.Size {
		return false
	}
	mask := sha256.Sum256(append(append([]byte(nil), known[:]...), salt...))
	stage1 := make([]byte, sha256.Size)
	subtle.XORBytes(stage1, mask[:], reply)
	got := sha256.Sum256(stage1)
	return subtle.ConstantTimeCompare(got[:], known[:]) == 1
}

// passwordCache keeps SHA256(SHA256(password)) of users that have logged in, so that the next
// log-in needs neither TLS nor RSA. An entry holds only while the user's verifier stays.
type passwordCache struct {
	mu sync.Mutex
	m  map[string]cachedPassword
}

type cachedPassword struct {
	verifier string
	hash     [sha256.Size]byte
}

// maxCached bounds the cache; beyond it everyone hands over the password again.
const maxCached = 10_000

func (p *passwordCache) get(user, verifier string) ([sha256.Size]byte, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.m[user]
	return c.hash, ok && c.verifier == verifier && verifier != ""
}

func (p *passwordCache) put(user, verifier, password string) {
	a := sha256.Sum256([]byte(password))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.m == nil || len(p.m) >= maxCached {
		p.m = map[string]cachedPassword{}
	}
	p.m[user] = cachedPassword{verifier, sha256.Sum256(a[:])}
}

// keyPair is the RSA key that clients without TLS encrypt their password with; made when the
// first one asks.
type keyPair struct {
	once sync.Once
	key  *rsa.PrivateKey
	pem  []byte
	err  error
}

func (k *keyPair) load() error {
	k.once.Do(func() {
		if k.key, k.err = rsa.GenerateKey(rand.Reader, 2048); k.err != nil {
			return
		}
		var der []byte
		if der, k.err = x509.MarshalPKIXPublicKey(&k.key.PublicKey); k.err == nil {
			k.pem = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
		}
	})
	return k.err
}

// decrypt reads a password that was XORed with the salt and encrypted with OAEP.
func (k *keyPair) decrypt(b, salt []byte) (string, error) {
	if err := k.load(); err != nil {
		return "", err
	}
	plain, err := rsa.DecryptOAEP(sha1.New(), rand.Reader, k.key, b, nil)
	if err != nil {
		return "", err
	}
	for i := range plain {
		plain[i] ^= salt[i%len(salt)]
	}
	if len(plain) == 0 || plain[len(plain)-1] != 0 {
		return "", errors.New("the password does not end in NUL")
	}
	return string(plain[:len(plain)-1]), nil
}

// newSalt makes the 20 bytes that a client mixes into its answer: random, without NUL and '$'.
func newSalt() (s [20]byte, err error) {
	if _, err = rand.Read(s[:]); err != nil {
		return s, err
	}
	for i := range s {
		s[i] = 1 + s[i]%126
		if s[i] == '$' {
			s[i]++
		}
	}
	return s, nil
}

// IsNativeHash tells whether s is a hash for mysql_native_password, as MySQL stores it: * and 40 hex
// digits.
func IsNativeHash(s string) bool {
	b, err := hex.DecodeString(strings.TrimPrefix(s, "*"))
	return err == nil && len(b) == sha1.Size && s[0] == '*'
}
