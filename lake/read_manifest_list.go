package lake

// parseManifestList reads a manifest list (spec, "Manifest Lists").
func parseManifestList(b []byte) ([]*Manifest, error) {
	f, err := openAvro(b)
	if err != nil {
		return nil, err
	}
	var out []*Manifest
	err = f.rows(func(r *avroBuf) error {
		m := &Manifest{AddedFiles: -1, ExistingFiles: -1, DeletedFiles: -1, AddedRows: -1, ExistingRows: -1, DeletedRows: -1}
		for i := range f.schema.fields {
			m.readField(r, &f.schema.fields[i])
		}
		out = append(out, m)
		return nil
	})
	return out, err
}

func (m *Manifest) readField(r *avroBuf, f *avroField) {
	n := r.value(f.node)
	if n.kind == avroNull {
		return
	}
	integer := n.kind == avroInt || n.kind == avroLong
	switch {
	case f.id == 500:
		m.Path = readString(r, n)
	case f.id == 507 && n.kind == avroArray:
		m.Partitions = []FieldSummary{}
		r.items(func() { m.Partitions = append(m.Partitions, readSummary(r, n.elem)) })
	case f.id == 519:
		m.Encrypted = true
		r.skip(n, 0)
	case !integer:
		r.skip(n, 0)
	default:
		m.setNumber(f.id, r.long())
	}
}

func (m *Manifest) setNumber(id int, v int64) {
	switch id {
	case 501:
		m.Length = v
	case 502:
		m.SpecID = int(v)
	case 517:
		m.Deletes = v == 1
	case 515:
		m.Seq = v
	case 516:
		m.MinSeq = v
	case 503:
		m.AddedSnapshotID = v
	case 504:
		m.AddedFiles = v
	case 505:
		m.ExistingFiles = v
	case 506:
		m.DeletedFiles = v
	case 512:
		m.AddedRows = v
	case 513:
		m.ExistingRows = v
	case 514:
		m.DeletedRows = v
	case 520:
		m.FirstRowID = &v
	}
}

func readString(r *avroBuf, n *avroNode) string {
	if n.kind == avroString || n.kind == avroBytes {
		return r.str()
	}
	r.skip(n, 0)
	return ""
}

func readSummary(r *avroBuf, n *avroNode) FieldSummary {
	var s FieldSummary
	n = r.value(n)
	for i := range n.fields {
		f := &n.fields[i]
		v := r.value(f.node)
		switch {
		case v.kind == avroBool && f.id == 509:
			s.ContainsNull = r.boolean()
		case v.kind == avroBool && f.id == 518:
			b := r.boolean()
			s.ContainsNaN = &b
		case v.kind == avroBytes && f.id == 510:
			s.Lower = append([]byte{}, r.bytes()...)
		case v.kind == avroBytes && f.id == 511:
			s.Upper = append([]byte{}, r.bytes()...)
		default:
			r.skip(v, 0)
		}
	}
	return s
}
