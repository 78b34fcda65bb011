package maintain

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// Evidence lies in the catalog's own database where the catalog is one (lake.Evidence), else in a
// folder of the server's. There are two kinds of rows:
//
//	state    an erasure that has not ended, with what it needs to go on; what says the value is
//	         encrypted under the server's key, and the row goes with the erasure's end
//	record   how a try of an erasure ended; never changed. Each has the hash of the one before it:
//	         hash = HMAC-SHA256(key, previous hash, number, body)
//
// The key is a file that only the server reads. Who has the database and not the key can take records
// away or change them, but not make the chain fit again.

// Ledger is where evidence lies.
type Ledger struct {
	rows lake.Evidence
	file string // of the key
}

// NewLedger is the ledger of a catalog. folder is the server's own: it holds the key where the catalog's
// database is elsewhere, and evidence of catalogs that keep none.
func NewLedger(c lake.Catalog, folder string) *Ledger {
	if e, ok := c.(lake.Evidence); ok {
		if at := e.EvidencePlace(); at != "" {
			return &Ledger{rows: e, file: at + ".erasure-key"}
		}
		return &Ledger{rows: e, file: filepath.Join(folder, "erasure-key")}
	}
	return &Ledger{rows: folderEvidence(filepath.Join(folder, "erasures", filepath.Base(filepath.Clean("/"+c.Name())))), file: filepath.Join(folder, "erasure-key")}
}

const (
	stateRow  = "state"
	recordRow = "record"
)

// key is the server's, made at first use.
func (l *Ledger) key() ([]byte, error) {
	read := func() ([]byte, error) {
		b, err := os.ReadFile(l.file)
		if err != nil {
			return nil, err
		}
		k, err := hex.DecodeString(strings.TrimSpace(string(b)))
		if err != nil || len(k) != 32 {
			return nil, sqlerr.New(sqlerr.DataCorrupted, "the key of erasures %s is no key", l.file)
		}
		return k, nil
	}
	k, err := read()
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	k = make([]byte, 32)
	if _, err := rand.Read(k); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(l.file), 0o700); err != nil {
		return nil, sqlerr.Wrap(err, sqlerr.IOError, "make the folder of the key of erasures")
	}
	if err := (folderEvidence(filepath.Dir(l.file))).write(l.file, []byte(hex.EncodeToString(k)+"\n"), false); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, sqlerr.Wrap(err, sqlerr.IOError, "make the key of erasures")
	}
	return read() // another server may have been faster
}

func mac(key []byte, parts ...string) string {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// valueHash tells values apart without saying them.
func valueHash(key []byte, column []string, values []string) string {
	return mac(key, append([]string{"value", strings.Join(column, ".")}, values...)...)
}

// EraseState is an erasure that has not ended.
type EraseState struct {
	ID      string           `json:"id"`
	User    string           `json:"user"`
	Reason  string           `json:"reason"`
	Tags    string           `json:"tags,omitempty"`
	Started time.Time        `json:"started"`
	Tables  [][2]string      `json:"table_names"` // namespace and table
	Column  []string         `json:"column"`
	Sealed  string           `json:"sealed"` // what would say the value
	Hash    string           `json:"value_hmac"`
	Step    string           `json:"step"`
	Status  string           `json:"status"` // RUNNING, or PENDING with its reasons
	Pending []string         `json:"pending,omitempty"`
	Done    []*TableEvidence `json:"tables"`
	secret  secret
}

// secret is what of a state says the value, or may: it lies there encrypted.
type secret struct {
	Values []string
	// Remove are files that a commit lets go of, by table: noted before it, since afterwards nothing
	// tells of them. A partition's value is in its files' paths.
	Remove map[string][]string
	// Versions are removed objects of which the store still has versions.
	Versions map[string][]string
}

// seal encrypts what a state must not say.
func seal(key []byte, s secret) (string, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	g, err := sealer(key)
	if err != nil {
		return "", err
	}
	nonce := make([]byte, g.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(g.Seal(nonce, nonce, b, nil)), nil
}

func unseal(key []byte, text string) (s secret, err error) {
	g, err := sealer(key)
	if err != nil {
		return s, err
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err == nil && len(b) < g.NonceSize() {
		err = errors.New("it is cut short")
	}
	if err == nil {
		b, err = g.Open(nil, b[:g.NonceSize()], b[g.NonceSize():], nil)
	}
	if err != nil {
		return s, sqlerr.Wrap(err, sqlerr.DataCorrupted, "read the state of an erasure with the server's key")
	}
	return s, json.Unmarshal(b, &s)
}

func sealer(key []byte) (cipher.AEAD, error) {
	k := sha256.Sum256(append([]byte("seal\x00"), key...))
	c, err := aes.NewCipher(k[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(c)
}

// save notes where an erasure is.
func (l *Ledger) save(ctx context.Context, s *EraseState) error {
	key, err := l.key()
	if err != nil {
		return err
	}
	if s.Sealed, err = seal(key, s.secret); err != nil {
		return err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return l.rows.SetEvidence(ctx, lake.EvidenceRow{Kind: stateRow, Key: s.ID, Body: string(b)})
}

// States are the erasures that have not ended.
func (l *Ledger) States(ctx context.Context) ([]*EraseState, error) {
	rows, err := l.rows.EvidenceRows(ctx, stateRow)
	if err != nil {
		return nil, err
	}
	var out []*EraseState
	for _, r := range rows {
		s := &EraseState{}
		if err := json.Unmarshal([]byte(r.Body), s); err != nil {
			return nil, sqlerr.Wrap(err, sqlerr.DataCorrupted, "read the state of erasure %s", r.Key)
		}
		out = append(out, s)
	}
	return out, nil
}

// Resume gives what an erasure that has not ended is to do.
func (l *Ledger) Resume(ctx context.Context, id string) (spec EraseSpec, tables []lake.Name, err error) {
	states, err := l.States(ctx)
	if err != nil {
		return spec, nil, err
	}
	for _, s := range states {
		if s.ID != id {
			continue
		}
		key, err := l.key()
		if err != nil {
			return spec, nil, err
		}
		spec = EraseSpec{Column: s.Column, Reason: s.Reason, Tags: s.Tags, User: s.User}
		for _, n := range s.Tables {
			tables = append(tables, lake.Name{Namespace: n[0], Table: n[1]})
		}
		hidden, err := unseal(key, s.Sealed)
		spec.Values = hidden.Values
		return spec, tables, err
	}
	return spec, nil, sqlerr.New(sqlerr.UndefinedObject, "there is no erasure %q that waits", id).WithHint("SELECT id, status FROM system.erasures.")
}

// List are the records, and the erasures that have none for what they do now: those that run, that
// were cut off, or that a try has left pending.
func (l *Ledger) List(ctx context.Context) ([]SealedRecord, error) {
	out, err := l.Records(ctx)
	if err != nil {
		return nil, err
	}
	states, err := l.States(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range states {
		if s.Status != EraseRunning {
			continue
		}
		out = append(out, SealedRecord{EraseRecord: EraseRecord{ID: s.ID, Status: s.Status, Pending: []string{"step " + s.Step}, User: s.User, Reason: s.Reason,
			Started: s.Started, Column: s.Column, Value: s.Hash, Tables: s.Done}})
	}
	return out, nil
}

// SealedRecord is a record as it lies there.
type SealedRecord struct {
	EraseRecord
	Seq        int64
	Body       string
	Prev, Hash string
}

// Records are those of all tries that have ended, oldest first. One that cannot be read has only its
// number and its text.
func (l *Ledger) Records(ctx context.Context) ([]SealedRecord, error) {
	rows, err := l.rows.EvidenceRows(ctx, recordRow)
	if err != nil {
		return nil, err
	}
	var out []SealedRecord
	for _, r := range rows {
		s := SealedRecord{Seq: r.Seq, Body: r.Body, Prev: r.Prev, Hash: r.Hash}
		_ = json.Unmarshal([]byte(r.Body), &s.EraseRecord) // the chain tells
		out = append(out, s)
	}
	return out, nil
}

// add seals a record and puts it at the chain's end.
func (l *Ledger) add(ctx context.Context, r *EraseRecord) (seq int64, hash string, err error) {
	key, err := l.key()
	if err != nil {
		return 0, "", err
	}
	body, err := json.Marshal(r)
	if err != nil {
		return 0, "", err
	}
	for range 100 { // other servers may add theirs
		rows, err := l.rows.EvidenceRows(ctx, recordRow)
		if err != nil {
			return 0, "", err
		}
		row := lake.EvidenceRow{Kind: recordRow, Seq: 1, Body: string(body)}
		if n := len(rows); n > 0 {
			row.Seq, row.Prev = rows[n-1].Seq+1, rows[n-1].Hash
		}
		row.Hash = l.hash(key, row)
		added, err := l.rows.AddEvidence(ctx, row)
		if err != nil || added {
			return row.Seq, row.Hash, err
		}
	}
	return 0, "", sqlerr.New(sqlerr.SerializationFailure, "other servers added evidence each time")
}

func (l *Ledger) hash(key []byte, r lake.EvidenceRow) string {
	return mac(key, "record", r.Prev, itoa(r.Seq), r.Body)
}

// Check goes along the chain and tells what is wrong with it, by the numbers of records.
func (l *Ledger) Check(ctx context.Context) (wrong []string, err error) {
	key, err := l.key()
	if err != nil {
		return nil, err
	}
	rows, err := l.rows.EvidenceRows(ctx, recordRow)
	if err != nil {
		return nil, err
	}
	prev, next := "", int64(1)
	for _, r := range rows {
		name := "record " + itoa(r.Seq)
		var e EraseRecord
		if json.Unmarshal([]byte(r.Body), &e) == nil && e.ID != "" {
			name += " (erasure " + e.ID + ")"
		}
		for ; next < r.Seq; next++ {
			wrong = append(wrong, "record "+itoa(next)+" is missing")
			prev = r.Prev // the gap is told once
		}
		switch {
		case r.Hash != l.hash(key, r):
			wrong = append(wrong, name+" was changed")
		case r.Prev != prev:
			wrong = append(wrong, name+" does not follow the record before it")
		}
		prev, next = r.Hash, r.Seq+1
	}
	return wrong, nil
}

// folderEvidence keeps rows as files, for catalogs that keep none.
type folderEvidence string

type folderRow struct {
	Body string `json:"body"`
	Prev string `json:"prev_hash"`
	Hash string `json:"hash"`
}

func (f folderEvidence) name(kind string, seq int64, key string) string {
	return filepath.Join(string(f), kind, strings.Repeat("0", max(0, 9-len(itoa(seq))))+itoa(seq)+"_"+filepath.Base(key)+".json")
}

// write writes a file whole, or not at all.
func (f folderEvidence) write(path string, b []byte, replace bool) error {
	t, err := os.CreateTemp(filepath.Dir(path), ".lhsql-")
	if err != nil {
		return err
	}
	defer os.Remove(t.Name())
	_, err = t.Write(b)
	if err == nil {
		err = t.Sync()
	}
	if e := t.Close(); err == nil {
		err = e
	}
	if err == nil && replace {
		return os.Rename(t.Name(), path)
	}
	if err == nil {
		err = os.Link(t.Name(), path)
	}
	return err
}

func (f folderEvidence) put(r lake.EvidenceRow, replace bool) error {
	path := f.name(r.Kind, r.Seq, r.Key)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	b, err := json.Marshal(folderRow{r.Body, r.Prev, r.Hash})
	if err != nil {
		return err
	}
	return f.write(path, b, replace)
}

// EvidenceRows implements lake.Evidence.
func (f folderEvidence) EvidenceRows(_ context.Context, kind string) ([]lake.EvidenceRow, error) {
	list, err := os.ReadDir(filepath.Join(string(f), kind)) // by name: by number
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []lake.EvidenceRow
	for _, e := range list {
		seq, key, ok := strings.Cut(strings.TrimSuffix(e.Name(), ".json"), "_")
		if !ok {
			continue
		}
		b, err := os.ReadFile(filepath.Join(string(f), kind, e.Name()))
		if err != nil {
			return nil, err
		}
		var r folderRow
		if err := json.Unmarshal(b, &r); err != nil {
			r.Body = string(b)
		}
		n := int64(0)
		for _, c := range seq {
			n = n*10 + int64(c-'0')
		}
		out = append(out, lake.EvidenceRow{Kind: kind, Seq: n, Key: key, Body: r.Body, Prev: r.Prev, Hash: r.Hash})
	}
	return out, err
}

// AddEvidence implements lake.Evidence.
func (f folderEvidence) AddEvidence(_ context.Context, r lake.EvidenceRow) (bool, error) {
	err := f.put(r, false)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// SetEvidence implements lake.Evidence.
func (f folderEvidence) SetEvidence(_ context.Context, r lake.EvidenceRow) error {
	return f.put(r, true)
}

// DropEvidence implements lake.Evidence.
func (f folderEvidence) DropEvidence(_ context.Context, kind, key string) error {
	err := os.Remove(f.name(kind, 0, key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// EvidencePlace implements lake.Evidence.
func (f folderEvidence) EvidencePlace() string { return "" }
