//go:build !unix

package engine

import "os"

// lockFile relies on the system's refusal to share a file; without one, what a killed process
// has left stays.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
}
