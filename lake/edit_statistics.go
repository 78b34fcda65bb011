package lake

import (
	"encoding/json"
	"slices"
)

// Statistics files are named by the table's metadata, by snapshot; a commit that sets or removes them makes no
// snapshot (spec, "Table Statistics").

// SetStatistics names f as the statistics of its snapshot, instead of what was named there.
func (e *Edit) SetStatistics(f StatisticsFile) error {
	return e.nameStatistics(tableStatistics, f, obj{"snapshot-id": f.SnapshotID, "statistics-path": f.Path,
		"file-size-in-bytes": f.Size, "file-footer-size-in-bytes": f.FooterSize, "blob-metadata": f.Blobs})
}

// SetPartitionStatistics names f as the partition statistics of its snapshot, instead of what was named there.
func (e *Edit) SetPartitionStatistics(f StatisticsFile) error {
	return e.nameStatistics(partitionStatistics, f,
		obj{"snapshot-id": f.SnapshotID, "statistics-path": f.Path, "file-size-in-bytes": f.Size})
}

// nameStatistics puts a file into one of the document's lists, whose name an update has for its item, too.
func (e *Edit) nameStatistics(key string, f StatisticsFile, item obj) error {
	if _, err := e.forgetStatistics(key, func(id int64) bool { return id == f.SnapshotID }); err != nil {
		return err
	}
	u := obj{key: item}
	if key == tableStatistics {
		u["snapshot-id"] = f.SnapshotID
	}
	files := e.statisticsFiles(key)
	*files = append(slices.Clone(*files), f)
	e.update("set-"+key, u)
	var list []json.RawMessage
	if raw, ok := e.doc[key]; ok {
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(item)
	if err != nil {
		return err
	}
	return e.set(key, append(list, raw))
}

func (e *Edit) statisticsFiles(key string) *[]StatisticsFile {
	if key == partitionStatistics {
		return &e.s.partitionStatistics
	}
	return &e.s.statistics
}

// RemoveStatistics forgets the statistics of a snapshot, and those of its partitions if partitions is set;
// the files are the caller's to remove.
func (e *Edit) RemoveStatistics(snapshot int64, partitions bool) error {
	for _, key := range []string{tableStatistics, partitionStatistics} {
		if key == partitionStatistics && !partitions {
			continue
		}
		were, err := e.forgetStatistics(key, func(id int64) bool { return id == snapshot })
		if err != nil {
			return err
		}
		if were {
			e.update("remove-"+key, obj{"snapshot-id": snapshot})
		}
	}
	return nil
}

// The document's lists of statistics files.
const (
	tableStatistics     = "statistics"
	partitionStatistics = "partition-statistics"
)

// forgetStatistics takes the files of snapshots out of one of the lists, and tells whether there were any.
func (e *Edit) forgetStatistics(key string, of func(snapshot int64) bool) (were bool, err error) {
	list := e.statisticsFiles(key)
	n := len(*list)
	*list = slices.DeleteFunc(slices.Clone(*list), func(f StatisticsFile) bool { return of(f.SnapshotID) })
	if len(*list) == n {
		return false, nil
	}
	return true, e.filterDoc(key, "snapshot-id", of)
}

// Distinct is about how many different values a column had.
type Distinct struct {
	Values float64
	Rows   float64 // of the table at that time
}

// Distincts are the counts of different values by field id: each by the newest statistics of the snapshot
// or of one that it comes from.
func (t *Table) Distincts(s *Snapshot) map[int]Distinct {
	if t == nil || len(t.statistics) == 0 {
		return nil
	}
	of := map[int64]*StatisticsFile{}
	for i := range t.statistics {
		of[t.statistics[i].SnapshotID] = &t.statistics[i]
	}
	out := map[int]Distinct{}
	for _, a := range t.Ancestors(s) {
		f := of[a.ID]
		if f == nil {
			continue
		}
		rows, err := json.Number(a.Summary["total-records"]).Float64()
		if err != nil || rows < 0 {
			continue
		}
		for _, b := range f.Blobs {
			if b.Type != ThetaBlob || len(b.Fields) != 1 {
				continue
			}
			if _, newer := out[b.Fields[0]]; newer {
				continue
			}
			if n, err := json.Number(b.Properties["ndv"]).Float64(); err == nil && n >= 0 {
				out[b.Fields[0]] = Distinct{n, rows}
			}
		}
	}
	return out
}
