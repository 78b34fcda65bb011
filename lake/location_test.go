package lake

import (
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// New files go where the Iceberg library puts them. (It leaves out partitions and other tables'
// folders, of which the expected places are written out.)
func TestFilePath(t *testing.T) {
	for _, c := range []struct {
		props           map[string]string
		partition, name string
		want            string // "": as the library says
	}{
		{nil, "", "00000-a.parquet", ""},
		{map[string]string{"write.data.path": "s3://b/files"}, "", "00000-a.parquet", ""},
		{map[string]string{"write.data.path": "s3://b/files/"}, "p=1", "a.parquet", "s3://b/files/p=1/a.parquet"},
		{map[string]string{"write.object-storage.enabled": "true"}, "", "00000-a.parquet", ""},
		{map[string]string{"write.object-storage.enabled": "true"}, "", "00001-0f8fad5b-d9cb-469f-a165-70867728950e.parquet", ""},
		{map[string]string{"write.object-storage.enabled": "TRUE", "write.object-storage.partitioned-paths": "false"}, "", "00000-a.parquet", ""},
		{map[string]string{"write.object-storage.enabled": "false"}, "p=1", "a.parquet", "s3://b/wh/ns/t/data/p=1/a.parquet"},
		{map[string]string{"write.object-storage.enabled": "true"}, "p=1", "a.parquet", "s3://b/wh/ns/t/data/" + hashFolders("p=1/a.parquet") + "/p=1/a.parquet"},
		{map[string]string{"write.object-storage.enabled": "true", "write.object-storage.partitioned-paths": "false"}, "p=1", "a.parquet", "s3://b/wh/ns/t/data/" + hashFolders("a.parquet") + "-a.parquet"},
		{map[string]string{"write.object-storage.enabled": "true", "write.data.path": "s3://b/files"}, "p=1", "a.parquet", "s3://b/files/" + hashFolders("p=1/a.parquet") + "/ns/t/p=1/a.parquet"},
		{map[string]string{"write.object-storage.enabled": "true", "write.object-storage.path": "s3://b/wh/ns/t2"}, "", "a.parquet", "s3://b/wh/ns/t2/" + hashFolders("a.parquet") + "/ns/t/a.parquet"},
	} {
		tab := &Table{state: state{location: "s3://b/wh/ns/t", properties: c.props}}
		want := c.want
		if want == "" {
			p, err := table.LoadLocationProvider(tab.location, iceberg.Properties(c.props))
			if err != nil {
				t.Fatal(err)
			}
			want = p.NewDataLocation(c.name)
		}
		if got := tab.FilePath(c.partition, c.name); got != want {
			t.Errorf("%v: %s, want %s", c.props, got, want)
		}
	}
}
