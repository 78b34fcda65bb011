package engine

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// inertText is PostgreSQL 15's pg_settings of what a client may SET, less the settings that have
// a meaning or an entry of their own: name|vartype|unit|boot_val|min_val|max_val|enumvals.
//
//go:embed settings_gen.txt
var inertText string

// inertSettings are PostgreSQL's settings without a meaning here: a client that sets them, at
// start-up or later, shall read back what it set.
func inertSettings() []setting {
	var out []setting
	for _, line := range strings.Split(strings.TrimSpace(inertText), "\n") {
		f := strings.Split(line, "|")
		s := setting{name: f[0], value: f[3], enum: strings.ReplaceAll(f[6], ",", "|")}
		s.min, _ = strconv.ParseFloat(f[4], 64)
		s.max, _ = strconv.ParseFloat(f[5], 64)
		switch f[1] {
		case "bool":
			s.kind = boolSetting
		case "enum":
			s.kind = enumSetting
		case "real":
			s.kind = realSetting
		case "integer":
			s.kind = intSetting
			switch f[2] {
			case "ms":
				s.kind = msSetting
			case "kB":
				s.kind = kbSetting
			case "8kB", "B", "s":
				s.kind, s.min, s.max = stringSetting, 0, 0 // the unit's spellings are the client's affair
			}
		}
		out = append(out, s)
	}
	return out
}

// decisive are settings without a meaning here of which another value would change what statements
// answer, or whether they run: each with the values that change nothing. All other settings of
// inertSettings say how PostgreSQL does its work, and are known to do nothing.
var decisive = map[string][]string{
	"array_nulls":           {"on"},
	"transform_null_equals": {"off"},
	"quote_all_identifiers": {"off"},
	"exit_on_error":         {"off"},
	"lc_monetary":           plainLocales,
	"lc_numeric":            plainLocales,
	"lc_time":               plainLocales,
}

var plainLocales = []string{"c", "", "posix", "c.utf-8", "c.utf8", "en_us", "en_us.utf-8", "en_us.utf8"}

// refuseSetting refuses a value that would be accepted and not be so.
func refuseSetting(name, value string) error {
	may, ok := decisive[name]
	if !ok || slices.Contains(may, strings.ToLower(value)) {
		return nil
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "%s = %s is not supported", name, value).
		WithHint("It can only be %s.", may[0])
}
