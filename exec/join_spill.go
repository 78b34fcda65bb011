package exec

import (
	"context"
	"errors"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// A build side that does not fit is partitioned by its keys' hash on disk, and the probe side
// likewise; then each pair of partitions is joined alone. Spilled rows carry their key, encoded,
// as a last column (NULL where NULL equals nothing), so a partition is joined on that column.
type joinSpill struct {
	j      *hashJoin
	keys   joinKeys // one bytea
	build  []*partitions
	probe  []*partitions
	filled once
	jobs   chan joinJob
}

// joinJob is a pair of partitions.
type joinJob struct {
	level        int
	part         int
	build, probe []*partitions
}

var byteaType = types.T(types.Bytea)

func spillTypes(t []types.Type) []types.Type {
	return append(append([]types.Type(nil), t...), byteaType)
}

// keyColumnOf encodes keys as a bytea column aligned with rows physical rows.
func keyColumnOf(k *joinKeys, enc *keyEncoder, keys []*vec.Vector, sel []uint16, rows int) (*vec.Vector, []uint64) {
	enc.encode(keys, sel)
	v := vec.Alloc(byteaType, types.FormStr, rows)
	v.Data = enc.buf
	hashes := make([]uint64, len(sel))
	for i, s := range sel {
		v.Views[s] = vec.View{Off: enc.off[i], Len: enc.off[i+1] - enc.off[i]}
		hashes[i] = hashKey(enc.key(i))
	}
	if null := k.nullRows(keys, sel, nil); null != nil {
		v.Valid = vec.NewBitmap(rows, true)
		for i, s := range sel {
			if null[i] {
				v.Valid.Clear(int(s))
			}
		}
	}
	return v, hashes
}

// flush moves the build rows that goroutine i holds to its partitions and starts it afresh.
func (j *hashJoin) flush(sides []*buildRows, i int, p *partitions) error {
	r := sides[i]
	fresh := newBuildRows(&j.keys, j.innerTypes, j.innerSkip)
	// What prepare learns of all rows from their sides survives in the fresh one.
	fresh.lo, fresh.hi, fresh.valid = r.lo, r.hi, r.valid
	for _, n := range r.null {
		if n {
			fresh.sawNull = true
		}
	}
	fresh.sawNull = fresh.sawNull || r.sawNull
	fresh.flushed = r.flushed + int64(r.store.n)
	from := 0
	for c := range r.store.chunks {
		b := r.store.batch(c)
		if err := j.spillBuild(r, from, b, p); err != nil {
			return err
		}
		from += b.Rows
	}
	sides[i] = fresh
	j.memories[i].shrink(0)
	return nil
}

func (j *hashJoin) spillBuild(r *buildRows, from int, b *vec.Batch, p *partitions) error {
	n := b.Rows
	sel := identity[:n]
	key := vec.Alloc(byteaType, types.FormStr, n)
	hashes := make([]uint64, n)
	if j.keys.ints {
		ints := make([]*vec.Vector, len(r.ints))
		for c := range ints {
			ints[c] = &vec.Vector{Type: j.keys.cols[c].typ, Form: types.FormI64, I64: r.ints[c][from : from+n]}
		}
		key, hashes = keyColumnOf(&j.keys, r.enc, ints, sel, n)
	} else {
		key.Views = key.Views[:0]
		for i := range n {
			k := r.key(from + i)
			key.Views = append(key.Views, vec.View{Off: uint32(len(key.Data)), Len: uint32(len(k))})
			key.Data = append(key.Data, k...)
			hashes[i] = hashKey(k)
		}
	}
	if r.null != nil {
		for i, null := range r.null[from : from+n] {
			if null {
				if key.Valid == nil {
					key.Valid = vec.NewBitmap(n, true)
				}
				key.Valid.Clear(i)
			}
		}
	}
	cols := make([]*vec.Vector, 0, len(b.Cols)+1)
	for c, v := range b.Cols {
		if v == nil {
			v = vec.ConstOf(j.innerTypes[c], types.Null)
		}
		cols = append(cols, v)
	}
	return p.write(append(cols, key), sel, n, hashes, 0)
}

// startSpill ends the build side's partitioning.
func (j *hashJoin) startSpill(sides []*buildRows, spilled []*partitions) error {
	s := &joinSpill{j: j}
	s.keys, _ = newJoinKeys([]types.Type{byteaType}, []types.Type{byteaType}, nil)
	for i := range sides {
		if spilled[i] == nil {
			spilled[i] = newPartitions(j.file, spillTypes(j.innerTypes))
		}
		if err := j.flush(sides, i, spilled[i]); err != nil {
			return err
		}
		if err := spilled[i].finish(); err != nil {
			return err
		}
	}
	s.build = spilled
	s.jobs = make(chan joinJob, fanout)
	j.spill = s
	return nil
}

// drain partitions the probe side, all of it, in the goroutine of who comes first and helpers.
func (s *joinSpill) drain(ctx context.Context) error {
	return s.filled.do(ctx, func() error {
		j := s.j
		s.probe = make([]*partitions, len(j.probe))
		err := parallel(ctx, len(j.probe), func(ctx context.Context, i int) error {
			p := newPartitions(j.file, spillTypes(j.outerTypes))
			s.probe[i] = p
			c, progs := j.env.evalCtx(), clonePrograms(j.probeKeys)
			keys := make([]*vec.Vector, len(progs))
			enc := newKeyEncoder(j.keys.cols)
			for {
				b, err := j.probe[i].Next(ctx)
				if err != nil {
					return err
				}
				if b == nil {
					return p.finish()
				}
				if err := canceled(ctx); err != nil {
					return err
				}
				if b.Len() == 0 {
					continue
				}
				if err := evalAll(c, progs, b, keys); err != nil {
					return err
				}
				sel := selection(b)
				key, hashes := keyColumnOf(&j.keys, enc, keys, sel, b.Rows)
				cols := append(append([]*vec.Vector(nil), b.Cols...), key)
				if err := p.write(cols, sel, b.Rows, hashes, 0); err != nil {
					return err
				}
			}
		})
		if err != nil {
			return err
		}
		for k := range fanout {
			s.jobs <- joinJob{part: k, build: s.build, probe: s.probe}
		}
		close(s.jobs)
		return nil
	})
}

var errPartitionTooLarge = errors.New("partition too large")

// nextJob makes the table of the next pair of partitions; false: there is none left.
func (s *joinStream) nextJob(ctx context.Context) (bool, error) {
	sp := s.j.spill
	for {
		var job joinJob
		if n := len(s.jobs); n > 0 {
			job = s.jobs[n-1]
			s.jobs = s.jobs[:n-1]
		} else if next, ok := <-sp.jobs; ok {
			job = next
		} else {
			return false, nil
		}
		err := s.load(ctx, job)
		if err == errPartitionTooLarge {
			if err = s.divide(ctx, job); err == nil {
				continue
			}
		}
		if err != nil {
			return false, err
		}
		probe := spilledRows{parts: job.probe, k: job.part, types: spillTypes(s.j.outerTypes)}
		s.reader = probe.next
		s.ended = false
		return true, nil
	}
}

// load makes the table of a job's build rows.
func (s *joinStream) load(ctx context.Context, job joinJob) error {
	j := s.j
	sp := j.spill
	rows := newBuildRows(&sp.keys, j.innerTypes, nil)
	if s.memory == nil {
		s.memory = newMemory(j.env)
	}
	in := spilledRows{parts: job.build, k: job.part, types: spillTypes(j.innerTypes)}
	for {
		b, err := in.next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		n := len(b.Cols) - 1
		rows.add(&sp.keys, b.Cols[:n], b.Cols[n:], identity[:b.Rows], b.Rows)
		if job.level < maxLevel-1 {
			if !s.memory.grow(rows.bytes()) && rows.store.n >= minBuildRows {
				return errPartitionTooLarge
			}
		} else if err := s.memory.must(rows.bytes()); err != nil {
			return err
		}
	}
	var err error
	s.table, err = newJoinTable(ctx, &sp.keys, []*buildRows{rows}, 1, j.marksInner())
	s.rowsOf = 0
	return err
}

// divide splits a job by the next bits of the hash.
func (s *joinStream) divide(ctx context.Context, job joinJob) error {
	s.memory.shrink(0)
	split := func(parts []*partitions, t []types.Type) ([]*partitions, error) {
		in := spilledRows{parts: parts, k: job.part, types: t}
		p := newPartitions(s.j.file, t)
		for {
			b, err := in.next(ctx)
			if err != nil {
				return nil, err
			}
			if b == nil {
				return []*partitions{p}, p.finish()
			}
			key := b.Cols[len(b.Cols)-1]
			hashes := make([]uint64, b.Rows)
			for i := range hashes {
				hashes[i] = hashKey(key.Bytes(i))
			}
			if err := p.write(b.Cols, identity[:b.Rows], b.Rows, hashes, job.level+1); err != nil {
				return nil, err
			}
		}
	}
	build, err := split(job.build, spillTypes(s.j.innerTypes))
	if err != nil {
		return err
	}
	probe, err := split(job.probe, spillTypes(s.j.outerTypes))
	if err != nil {
		return err
	}
	for k := range fanout {
		s.jobs = append(s.jobs, joinJob{level: job.level + 1, part: k, build: build, probe: probe})
	}
	return nil
}

// endJob drops the table of a pair of partitions that is done.
func (s *joinStream) endJob() {
	s.table = nil
	s.memory.shrink(0)
}

// spilledRows reads one partition of several goroutines' partitions.
type spilledRows struct {
	parts []*partitions
	k     int
	types []types.Type
	at    int
}

func (r *spilledRows) next(ctx context.Context) (*vec.Batch, error) {
	for len(r.parts) > 0 {
		p := r.parts[0]
		if r.at < len(p.blocks[r.k]) {
			if err := canceled(ctx); err != nil {
				return nil, err
			}
			rd := spillReader{file: p.w.file}
			r.at++
			return rd.read(p.blocks[r.k][r.at-1], r.types)
		}
		r.parts = r.parts[1:]
		r.at = 0
	}
	return nil, nil
}
