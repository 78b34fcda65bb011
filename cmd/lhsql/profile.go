package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
)

// serveProfiles answers on addr what `go tool pprof` asks: where time and memory go. The
// address must be this machine's: profiles show the text of what runs.
func serveProfiles(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("pprof: %q is not an address of this machine's loopback, like 127.0.0.1:6060", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("pprof: %w", err)
	}
	m := http.NewServeMux()
	m.HandleFunc("/debug/pprof/", pprof.Index)
	m.HandleFunc("/debug/pprof/profile", pprof.Profile)
	m.HandleFunc("/debug/pprof/trace", pprof.Trace)
	go http.Serve(l, m)
	return nil
}
