package lake

import (
	"runtime/debug"
	"testing"
)

// The version that snapshots name is the module's, however the program was built.
func TestBuildVersion(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.modified", Value: "true"}}
	for _, c := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{Main: debug.Module{Path: modulePath, Version: "v1.2.3"}}, "v1.2.3"},
		{debug.BuildInfo{Main: debug.Module{Path: modulePath, Version: "(devel)"}, Settings: commit}, "0123456789ab+dirty"},
		{debug.BuildInfo{Main: debug.Module{Path: modulePath, Version: "(devel)"}}, "devel"},
		{debug.BuildInfo{Main: debug.Module{Path: "example.com/app", Version: "v9.0.0"}, Deps: []*debug.Module{{Path: modulePath, Version: "v1.2.3"}}}, "v1.2.3"},
		{debug.BuildInfo{Main: debug.Module{Path: "example.com/app", Version: "v9.0.0"}, Settings: commit}, "unknown"},
	} {
		if got := buildVersion(&c.info, true); got != c.want {
			t.Errorf("%+v gives %q, want %q", c.info.Main, got, c.want)
		}
	}
	if got := buildVersion(nil, false); got != "unknown" {
		t.Errorf("without build information %q", got)
	}
	if engineVersion == "" || engineVersion == "dev" {
		t.Errorf("engineVersion is %q", engineVersion)
	}
}
