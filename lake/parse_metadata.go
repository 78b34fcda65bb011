package lake

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// maxFormatVersion is the newest table format that this room knows. A newer one may change the
// meaning of files, so it is refused rather than guessed (C8).
const maxFormatVersion = 3

// maxMetadata bounds a decompressed metadata file.
const maxMetadata = 1 << 30

// The JSON documents below follow the spec's appendix C. A foreign table must open even where its
// writer left optional things out; what the format requires is never guessed (metadataJSON.check).

type metadataJSON struct {
	FormatVersion   int             `json:"format-version"`
	UUID            string          `json:"table-uuid"`
	Location        string          `json:"location"`
	LastUpdatedMs   *int64          `json:"last-updated-ms"`
	LastSeq         *int64          `json:"last-sequence-number"`
	LastColumnID    *int            `json:"last-column-id"`
	NextRowID       *int64          `json:"next-row-id"`
	Schema          *schemaJSON     `json:"schema"` // v1
	Schemas         []*schemaJSON   `json:"schemas"`
	CurrentSchemaID *int            `json:"current-schema-id"`
	PartitionSpec   []specFieldJSON `json:"partition-spec"` // v1
	PartitionSpecs  []specJSON      `json:"partition-specs"`
	DefaultSpecID   *int            `json:"default-spec-id"`
	LastPartitionID *int            `json:"last-partition-id"`
	SortOrders      []sortOrderJSON `json:"sort-orders"`
	DefaultSortID   *int            `json:"default-sort-order-id"`
	Properties      looseStrings    `json:"properties"`
	CurrentSnapshot *int64          `json:"current-snapshot-id"`
	Snapshots       []snapshotJSON  `json:"snapshots"`
	SnapshotLog     []struct {
		TimestampMs int64 `json:"timestamp-ms"`
		SnapshotID  int64 `json:"snapshot-id"`
	} `json:"snapshot-log"`
	MetadataLog []struct {
		TimestampMs  int64  `json:"timestamp-ms"`
		MetadataFile string `json:"metadata-file"`
	} `json:"metadata-log"`
	Refs                map[string]refJSON `json:"refs"`
	Statistics          []statisticsJSON   `json:"statistics"`
	PartitionStatistics []statisticsJSON   `json:"partition-statistics"`
}

// statisticsJSON is what the two kinds of statistics files have in common.
type statisticsJSON struct {
	SnapshotID *int64 `json:"snapshot-id"`
	Path       string `json:"statistics-path"`
	Size       *int64 `json:"file-size-in-bytes"`
	// Of table statistics.
	FooterSize int64            `json:"file-footer-size-in-bytes"`
	Blobs      []StatisticsBlob `json:"blob-metadata"`
}

type specJSON struct {
	SpecID int             `json:"spec-id"`
	Fields []specFieldJSON `json:"fields"`
}

type specFieldJSON struct {
	SourceID  *int   `json:"source-id,omitempty"`
	SourceIDs []int  `json:"source-ids,omitempty"`
	FieldID   *int   `json:"field-id,omitempty"`
	Name      string `json:"name"`
	Transform string `json:"transform"`
}

type sortOrderJSON struct {
	OrderID int             `json:"order-id"`
	Fields  []sortFieldJSON `json:"fields"`
}

type sortFieldJSON struct {
	Transform string `json:"transform"`
	SourceID  *int   `json:"source-id,omitempty"`
	SourceIDs []int  `json:"source-ids,omitempty"`
	Direction string `json:"direction"`
	NullOrder string `json:"null-order"`
}

type snapshotJSON struct {
	ID           *int64       `json:"snapshot-id"`
	ParentID     *int64       `json:"parent-snapshot-id,omitempty"`
	Seq          int64        `json:"sequence-number,omitempty"`
	TimestampMs  *int64       `json:"timestamp-ms"`
	ManifestList string       `json:"manifest-list,omitempty"`
	Manifests    []string     `json:"manifests,omitempty"`
	Summary      looseStrings `json:"summary,omitempty"`
	SchemaID     *int         `json:"schema-id,omitempty"`
	FirstRowID   *int64       `json:"first-row-id,omitempty"`
	AddedRows    *int64       `json:"added-rows,omitempty"`
}

type refJSON struct {
	SnapshotID         int64  `json:"snapshot-id"`
	Type               string `json:"type"`
	MinSnapshotsToKeep *int   `json:"min-snapshots-to-keep,omitempty"`
	MaxSnapshotAgeMs   *int64 `json:"max-snapshot-age-ms,omitempty"`
	MaxRefAgeMs        *int64 `json:"max-ref-age-ms,omitempty"`
}

// looseStrings is a map of strings whose writer may have put numbers or booleans as values.
type looseStrings map[string]string

func (m *looseStrings) UnmarshalJSON(b []byte) error {
	if plain, ok := plainStrings(b); ok {
		*m = plain
		return nil
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	*m = make(looseStrings, len(raw))
	for k, v := range raw {
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			s = string(v)
		}
		if string(v) != "null" {
			(*m)[k] = s
		}
	}
	return nil
}

// plainStrings reads an object whose keys and values are strings without escapes, as summaries nearly
// always are: a table has one a snapshot, and reflection takes most of the time that a commit's metadata
// takes to read. b is valid JSON. ok false: it is something else.
func plainStrings(b []byte) (m looseStrings, ok bool) {
	i := 0
	next := func() byte { // the next byte that is no space, which stays
		for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
			i++
		}
		if i == len(b) {
			return 0
		}
		return b[i]
	}
	text := func() (string, bool) {
		if next() != '"' {
			return "", false
		}
		end := bytes.IndexByte(b[i+1:], '"')
		if end < 0 {
			return "", false
		}
		s := b[i+1 : i+1+end]
		i += end + 2
		return string(s), bytes.IndexByte(s, '\\') < 0
	}
	if next() != '{' {
		return nil, false
	}
	i++
	m = looseStrings{}
	if next() == '}' {
		return m, true
	}
	for {
		k, ok := text()
		if !ok || next() != ':' {
			return nil, false
		}
		i++
		v, ok := text()
		if !ok {
			return nil, false
		}
		m[k] = v
		switch next() {
		case ',':
			i++
		case '}':
			return m, true
		default:
			return nil, false
		}
	}
}

// gunzip gives b decompressed if it is gzip, else b. The content tells, not the name.
func gunzip(b []byte) ([]byte, error) {
	if !bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return room.ReadAll(nil, z, maxMetadata)
}

// metadataCost is about the memory that a metadata file takes as values: its text, and for each
// object and member of its JSON what stands for it.
func metadataCost(b []byte) int64 {
	n := int64(4096) + 3*int64(len(b))
	return n + 320*int64(bytes.Count(b, []byte{'{'})) + 48*int64(bytes.Count(b, []byte{','}))
}

// parseMetadata reads a table metadata file of format v1 to v3.
func parseMetadata(b []byte) (*state, error) { return parseAfter(b, nil) }

// parseAfter is parseMetadata of a file that mostly follows another, before, which may be nil: snapshots that
// both begin with, in the same bytes, are not read again. A table may have thousands of them.
func parseAfter(b []byte, before *state) (*state, error) {
	b, err := gunzip(b)
	if err != nil {
		return nil, err
	}
	if err := room.Take(int(metadataCost(b))); err != nil {
		return nil, err
	}
	if !utf8.Valid(b) {
		// The decoder would put other characters in the place of damaged ones, in a path or a name.
		return nil, fmt.Errorf("table metadata is not valid UTF-8")
	}
	var m metadataJSON
	rest, known := newSnapshots(b, before)
	if err := json.Unmarshal(rest, &m); err != nil {
		return nil, err
	}
	if m.FormatVersion < 1 {
		return nil, fmt.Errorf("not Iceberg table metadata: no format-version")
	}
	if m.FormatVersion > maxFormatVersion {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"table format version %d is newer than %d, the newest that is supported", m.FormatVersion, maxFormatVersion)
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	s := &state{
		uuid: m.UUID, formatVersion: m.FormatVersion, location: m.Location,
		lastUpdated: time.UnixMilli(*m.LastUpdatedMs).UTC(), lastColumnID: *m.LastColumnID,
		properties: m.Properties, raw: b, snapshots: slices.Clone(known),
	}
	if m.LastSeq != nil {
		s.lastSeq = *m.LastSeq
	}
	if m.NextRowID != nil {
		s.nextRowID = *m.NextRowID
	}
	if s.properties == nil {
		s.properties = map[string]string{}
	}
	if err := s.readSchemas(&m); err != nil {
		return nil, err
	}
	if err := s.readSpecs(&m); err != nil {
		return nil, err
	}
	s.readSortOrders(&m)
	if declares(s.properties) {
		s.declareAll()
	}
	return s, s.readSnapshots(&m)
}

// newSnapshots gives the document without the snapshots that it begins with as before does, and these.
func newSnapshots(b []byte, before *state) (rest []byte, known []*Snapshot) {
	if before == nil {
		return b, nil
	}
	was, ok1 := topLevel(before.raw)
	doc, ok2 := topLevel(b)
	begin, ok3 := bytes.CutSuffix(was["snapshots"], []byte{']'})
	added, ok4 := bytes.CutPrefix(doc["snapshots"], begin)
	more, comma := bytes.CutPrefix(added, []byte{','})
	ended := bytes.HasPrefix(bytes.TrimSpace(more), []byte{']'})
	if !ok1 || !ok2 || !ok3 || !ok4 || len(begin) == 0 || comma == ended {
		return b, nil
	}
	doc["snapshots"] = append([]byte{'['}, more...)
	return objectText(doc), before.read
}

// check refuses a document without what its format version requires (spec, "Table Metadata Fields"):
// a missing last-sequence-number, taken for zero, would make the next delete older than the rows that
// it deletes.
func (m *metadataJSON) check() error {
	for _, f := range []struct {
		name  string
		since int
		there bool
	}{
		{"location", 1, m.Location != ""},
		{"last-updated-ms", 1, m.LastUpdatedMs != nil},
		{"last-column-id", 1, m.LastColumnID != nil},
		{"table-uuid", 2, m.UUID != ""},
		{"last-sequence-number", 2, m.LastSeq != nil},
		{"schemas", 2, m.Schemas != nil},
		{"current-schema-id", 2, m.CurrentSchemaID != nil},
		{"partition-specs", 2, m.PartitionSpecs != nil},
		{"default-spec-id", 2, m.DefaultSpecID != nil},
		{"last-partition-id", 2, m.LastPartitionID != nil},
		{"sort-orders", 2, m.SortOrders != nil},
		{"default-sort-order-id", 2, m.DefaultSortID != nil},
		{"next-row-id", 3, m.NextRowID != nil},
	} {
		if m.FormatVersion >= f.since && !f.there {
			return fmt.Errorf("table metadata of format version %d lacks the required field %s", m.FormatVersion, f.name)
		}
	}
	return nil
}

func (s *state) readSchemas(m *metadataJSON) error {
	list := m.Schemas
	if len(list) == 0 && m.Schema != nil {
		list = []*schemaJSON{m.Schema}
	}
	if len(list) == 0 {
		return fmt.Errorf("metadata has no schema")
	}
	for _, j := range list {
		if j == nil {
			continue
		}
		sch, err := j.schema()
		if err != nil {
			return err
		}
		for _, other := range s.schemas {
			if other.ID == sch.ID {
				return fmt.Errorf("two schemas have one id, %d", sch.ID)
			}
		}
		s.schemas = append(s.schemas, sch)
		s.lastColumnID = max(s.lastColumnID, sch.maxID())
	}
	s.currentSchemaID = list[len(list)-1].id()
	if m.CurrentSchemaID != nil {
		s.currentSchemaID = *m.CurrentSchemaID
	} else if m.Schema != nil {
		s.currentSchemaID = m.Schema.id()
	}
	for _, sch := range s.schemas {
		if sch.ID == s.currentSchemaID {
			return nil
		}
	}
	return fmt.Errorf("metadata has no schema with the current id %d", s.currentSchemaID)
}

func (s *state) readSpecs(m *metadataJSON) error {
	list := m.PartitionSpecs
	if len(list) == 0 {
		list = []specJSON{{SpecID: 0, Fields: m.PartitionSpec}}
	}
	s.lastPartitionID = 999
	for _, j := range list {
		for _, other := range s.specs {
			if other.ID == j.SpecID {
				return fmt.Errorf("two partition specs have one id, %d", j.SpecID)
			}
		}
		spec := &PartitionSpec{ID: j.SpecID}
		for i, f := range j.Fields {
			pf := PartitionField{FieldID: 1000 + i, SourceIDs: f.SourceIDs, Name: f.Name, Transform: ParseTransform(f.Transform)}
			if f.FieldID != nil {
				pf.FieldID = *f.FieldID
			}
			if f.SourceID != nil {
				pf.SourceIDs = []int{*f.SourceID}
			}
			s.typePartitionField(&pf)
			s.lastPartitionID = max(s.lastPartitionID, pf.FieldID)
			spec.Fields = append(spec.Fields, pf)
		}
		s.specs = append(s.specs, spec)
	}
	s.defaultSpecID = s.specs[0].ID // there is one: an empty list was replaced
	if m.DefaultSpecID != nil {
		s.defaultSpecID = *m.DefaultSpecID
	}
	if m.LastPartitionID != nil {
		s.lastPartitionID = max(s.lastPartitionID, *m.LastPartitionID)
	}
	if len(s.specs) > 0 && !slices.ContainsFunc(s.specs, func(p *PartitionSpec) bool { return p.ID == s.defaultSpecID }) {
		return fmt.Errorf("metadata has no partition spec with the default id %d", s.defaultSpecID)
	}
	return nil
}

// typePartitionField fills in the result type. The source column is looked up in the current
// schema, and where it has been dropped since, in the newest schema that had it.
func (s *state) typePartitionField(pf *PartitionField) {
	if len(pf.SourceIDs) != 1 {
		pf.Transform.Kind = UnknownTransform
		return
	}
	if f := s.sourceField(pf.SourceIDs[0]); f != nil {
		pf.Type, pf.Iceberg = pf.Transform.Result(f.Stored(), f.Iceberg)
	}
}

func (s *state) sourceField(id int) *Field {
	for _, sch := range s.schemas {
		if sch.ID == s.currentSchemaID {
			if f, _ := sch.ByID(id); f != nil {
				return f
			}
		}
	}
	for i := len(s.schemas) - 1; i >= 0; i-- {
		if f, _ := s.schemas[i].ByID(id); f != nil {
			return f
		}
	}
	return nil
}

func (s *state) readSortOrders(m *metadataJSON) {
	for _, j := range m.SortOrders {
		o := &SortOrder{ID: j.OrderID}
		for _, f := range j.Fields {
			sf := SortField{SourceIDs: f.SourceIDs, Transform: ParseTransform(f.Transform),
				Desc: strings.EqualFold(f.Direction, "desc")}
			sf.NullsFirst = strings.EqualFold(f.NullOrder, "nulls-first") || f.NullOrder == "" && !sf.Desc
			if f.SourceID != nil {
				sf.SourceIDs = []int{*f.SourceID}
			}
			o.Fields = append(o.Fields, sf)
		}
		s.sortOrders = append(s.sortOrders, o)
	}
	if m.DefaultSortID != nil {
		s.defaultSortID = *m.DefaultSortID
	}
}

func (s *state) readSnapshots(m *metadataJSON) error {
	ids := make(map[int64]bool, len(s.snapshots)+len(m.Snapshots))
	for _, k := range s.snapshots {
		ids[k.ID] = true
	}
	for i := range m.Snapshots {
		j := &m.Snapshots[i]
		switch {
		case j.ID == nil:
			return fmt.Errorf("a snapshot lacks the required field snapshot-id")
		case j.TimestampMs == nil:
			return fmt.Errorf("snapshot %d lacks the required field timestamp-ms", *j.ID)
		case ids[*j.ID]:
			return fmt.Errorf("two snapshots have one id, %d", *j.ID)
		}
		ids[*j.ID] = true
		s.snapshots = append(s.snapshots, j.snapshot())
	}
	// Some writers put -1 for "none" (spec, appendix C).
	if m.CurrentSnapshot != nil && *m.CurrentSnapshot != -1 {
		s.currentSnapshot = m.CurrentSnapshot
	}
	for _, l := range m.SnapshotLog {
		s.log = append(s.log, LogEntry{Time: time.UnixMilli(l.TimestampMs).UTC(), SnapshotID: l.SnapshotID})
	}
	for _, l := range m.MetadataLog {
		s.metadataLog = append(s.metadataLog, MetadataLogEntry{Time: time.UnixMilli(l.TimestampMs).UTC(), File: l.MetadataFile})
	}
	var err error
	if s.statistics, err = readStatistics("statistics", m.Statistics); err != nil {
		return err
	}
	if s.partitionStatistics, err = readStatistics("partition-statistics", m.PartitionStatistics); err != nil {
		return err
	}
	main := false
	for name, r := range m.Refs {
		// A ref of a kind that we do not know is read like a tag: it names a snapshot.
		s.refs = append(s.refs, Ref{Name: name, SnapshotID: r.SnapshotID, Branch: strings.EqualFold(r.Type, "branch"),
			MinSnapshotsToKeep: r.MinSnapshotsToKeep, MaxSnapshotAgeMs: r.MaxSnapshotAgeMs, MaxRefAgeMs: r.MaxRefAgeMs})
		if name != "main" {
			continue
		}
		main = true
		switch {
		case s.currentSnapshot == nil:
			s.currentSnapshot = &r.SnapshotID
		case *s.currentSnapshot != r.SnapshotID:
			return fmt.Errorf("the current snapshot is %d, the branch main is at %d", *s.currentSnapshot, r.SnapshotID)
		}
	}
	s.read = s.snapshots[:len(s.snapshots):len(s.snapshots)]
	if s.currentSnapshot != nil && !ids[*s.currentSnapshot] {
		return fmt.Errorf("metadata has no snapshot with the current id %d", *s.currentSnapshot)
	}
	if !main && s.currentSnapshot != nil {
		s.refs = append(s.refs, Ref{Name: "main", SnapshotID: *s.currentSnapshot, Branch: true})
	}
	sort.Slice(s.refs, func(i, j int) bool { return s.refs[i].Name < s.refs[j].Name })
	return nil
}

func readStatistics(key string, list []statisticsJSON) ([]StatisticsFile, error) {
	var out []StatisticsFile
	for _, j := range list {
		switch {
		case j.SnapshotID == nil:
			return nil, fmt.Errorf("an item of %s lacks the required field snapshot-id", key)
		case j.Path == "":
			return nil, fmt.Errorf("an item of %s lacks the required field statistics-path", key)
		case j.Size == nil:
			return nil, fmt.Errorf("an item of %s lacks the required field file-size-in-bytes", key)
		}
		out = append(out, StatisticsFile{SnapshotID: *j.SnapshotID, Path: j.Path, Size: *j.Size, FooterSize: j.FooterSize, Blobs: j.Blobs})
	}
	return out, nil
}

func (j *snapshotJSON) snapshot() *Snapshot {
	return &Snapshot{ID: *j.ID, ParentID: j.ParentID, Seq: j.Seq, Time: time.UnixMilli(*j.TimestampMs).UTC(),
		ManifestList: j.ManifestList, Manifests: j.Manifests, SchemaID: j.SchemaID,
		Operation: j.Summary["operation"], Summary: j.Summary, FirstRowID: j.FirstRowID, AddedRows: j.AddedRows}
}

// ParseTransform reads a transform's spelling. What is not known comes as UnknownTransform,
// which never prunes and cannot be written.
func ParseTransform(s string) Transform {
	t := Transform{Text: s}
	name, arg, ok := strings.Cut(s, "[")
	if ok {
		n, err := strconv.Atoi(strings.TrimSuffix(arg, "]"))
		if err != nil || n <= 0 || !strings.HasSuffix(arg, "]") {
			return t
		}
		t.Param = n
	}
	switch strings.ToLower(name) {
	case "identity":
		t.Kind = Identity
	case "bucket":
		t.Kind = Bucket
	case "truncate":
		t.Kind = Truncate
	case "year", "years":
		t.Kind = Year
	case "month", "months":
		t.Kind = Month
	case "day", "days", "date":
		t.Kind = Day
	case "hour", "hours":
		t.Kind = Hour
	case "void":
		t.Kind = Void
	}
	if needs := t.Kind == Bucket || t.Kind == Truncate; needs != ok {
		t.Kind = UnknownTransform
	}
	return t
}
