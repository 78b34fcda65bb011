// Package interop answers: does lhsql read what others wrote as they read it?
//
// Its tests compare with answers of other engines, which scripts beside them wrote down
// (golden/, testdata/) or write when the tools are there.
package interop
