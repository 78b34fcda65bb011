package types

import "sort"

// ZoneNames lists the time zones by their IANA names, sorted.
func ZoneNames() []string {
	var out []string
	for _, n := range zoneNames() {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}
