package lake

import (
	"fmt"
	"path"
	"strings"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/lake/store"
)

// StatisticsPath is a new path for the statistics of a snapshot.
func (t *Table) StatisticsPath(snapshot int64) string {
	return fmt.Sprintf("%s/%d-%s.stats", metadataFolder(&t.state), snapshot, uuid.NewString())
}

// PartitionStatisticsPath is a new path for the partition statistics of a snapshot.
func (t *Table) PartitionStatisticsPath(snapshot int64) string {
	return fmt.Sprintf("%s/partition-stats-%d-%s.parquet", metadataFolder(&t.state), snapshot, uuid.NewString())
}

// FilePath is where a new data or delete file goes, as the table's properties say (Iceberg
// documentation, "Write properties" and "Object store file layout"): partition is the folder of its
// partition, "" for none, and name the file's own.
//
//	location/data/partition/name                        by default
//	location/data/0101/1100/0001/01011111/partition/name  write.object-storage.enabled
//
// The folders of the second are 20 bits of a hash of what follows them, so that an object store, which
// gives each prefix its share, spreads the files of one partition. A data folder outside of the
// table's own may be of several tables: then the table's name and its parent's follow the hash.
func (t *Table) FilePath(partition, name string) string {
	p := t.properties
	on := func(key string, or bool) bool {
		if v := p[key]; v != "" {
			return strings.EqualFold(v, "true")
		}
		return or
	}
	location := strings.TrimRight(t.location, "/")
	spread := on("write.object-storage.enabled", false)
	folder := p["write.data.path"]
	if folder == "" && spread {
		folder = p["write.object-storage.path"]
	}
	if folder == "" {
		folder = p["write.folder-storage.path"]
	}
	if folder == "" {
		folder = location + "/data"
	}
	folder = strings.TrimRight(folder, "/")
	partitioned := !spread || on("write.object-storage.partitioned-paths", true)
	if partition != "" && partitioned {
		name = partition + "/" + name
	}
	if !spread {
		return folder + "/" + name
	}
	hash := hashFolders(name)
	switch {
	case !within(folder, location):
		_, rest := store.SplitScheme(location)
		at := path.Clean("/" + strings.TrimLeft(rest, "/"))
		return folder + "/" + hash + "/" + strings.TrimLeft(path.Base(path.Dir(at))+"/"+path.Base(at), "/") + "/" + name
	case !partitioned:
		return folder + "/" + hash + "-" + name
	}
	return folder + "/" + hash + "/" + name
}

// mayMove refuses a location that the catalog does not let the table use, and one after which it would
// not let it read the files that stay where they are (V7): a table's own folder is allowed as such,
// and moves.
func (t *Table) mayMove(to string) error {
	if store.Canonical(to) == store.Canonical(t.location) || t.place == nil {
		return nil
	}
	g, ok := t.place.fs.(*store.Guard)
	if !ok {
		return nil
	}
	var stay []string
	for _, p := range g.Prefixes {
		if !within(p, t.location) {
			stay = append(stay, p)
		}
	}
	for _, loc := range []string{to, t.location} {
		if err := store.Allowed(strings.TrimRight(store.Canonical(loc), "/"), stay); err != nil {
			return err
		}
	}
	return nil
}

// hashFolders is 20 bits of a name's hash as folders of 4, 4, 4 and 8 bits.
func hashFolders(name string) string {
	h := fmt.Sprintf("%020b", murmur3([]byte(name))&(1<<20-1))
	return h[:4] + "/" + h[4:8] + "/" + h[8:12] + "/" + h[12:]
}
