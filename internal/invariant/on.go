//go:build invariants

package invariant

// Enabled tells whether costly checks run.
const Enabled = true
