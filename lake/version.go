package lake

import "runtime/debug"

// engineName and engineVersion are written into snapshots and views.
const engineName = "lhsql"

// engineVersion is this module's version as the program was built: a release's, else one that names
// the commit that it was built from.
var engineVersion = buildVersion(debug.ReadBuildInfo())

// modulePath is this module among a program's.
const modulePath = "github.com/lhsql/lhsql"

func buildVersion(b *debug.BuildInfo, ok bool) string {
	const unknown = "unknown"
	if !ok {
		return unknown
	}
	m := &b.Main
	if m.Path != modulePath {
		// Another program's: this module is one that it depends on.
		for _, d := range b.Deps {
			if d.Path == modulePath {
				m = d
			}
		}
		if m.Path != modulePath {
			return unknown
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version == "" {
			return unknown
		}
		return m.Version
	}
	if v := m.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, dirty := "", ""
	for _, s := range b.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if revision != "" {
		return revision[:min(len(revision), 12)] + dirty
	}
	return "devel" // built without a version control system, by go run or go test
}
