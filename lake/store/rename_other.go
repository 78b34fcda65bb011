//go:build !linux

package store

import (
	"errors"
	"os"
)

// renameNoReplace is reached only where the file system has no hard links: refuse rather than
// risk to replace a file.
func renameNoReplace(tmp, path string) error {
	return &os.LinkError{Op: "rename", Old: tmp, New: path, Err: errors.New("the file system has no hard links")}
}
