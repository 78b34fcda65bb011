// Command lhsql is the gateway: it serves Iceberg tables over the Postgres and MySQL wires, or opens them
// in a shell.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// version is set by the linker for releases.
var version = ""

func versionText() string {
	if version != "" {
		return version
	}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" && b.Main.Version != "(devel)" {
		return b.Main.Version
	}
	return "dev"
}

// command is one subcommand; run gets the arguments after its name.
type command struct {
	name, args, doc string
	run             func(*config) error
}

func commands() []command {
	return []command{
		{"serve", "", "serve the configured catalogs", runServe},
		{"sql", "[-c SQL | -f FILE]", "open a shell on the configured catalogs", runSQL},
		{"demo", "", "make a small commerce lakehouse in ./lakehouse and serve it", runDemo},
		{"config", "", "print the effective configuration, secrets redacted", runConfig},
		{"user", "NAME [native]", "read a password and print the user's line for the configuration; native: for mysql_native_password too", runUser},
		{"version", "", "print the version", func(*config) error { fmt.Println("lhsql " + versionText()); return nil }},
	}
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		if !errors.Is(err, errReported) {
			fmt.Fprintln(os.Stderr, "lhsql: "+describe(err))
		}
		os.Exit(1)
	}
}

// errReported ends the process with status 1 when the error was already shown.
var errReported = errors.New("reported")

func describe(err error) string {
	s := err.Error()
	if e, ok := sqlerr.As(err); ok && e.Hint != "" {
		s += "\nHint: " + e.Hint
	}
	return s
}

func run(args []string) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		usage()
		return nil
	}
	for _, c := range commands() {
		if c.name != args[0] {
			continue
		}
		for _, a := range args[1:] {
			if a == "--help" || a == "-h" {
				usage()
				return nil
			}
		}
		cfg, err := loadConfig(args[1:], os.Environ(), c.name == "demo")
		if err != nil {
			return err
		}
		return c.run(cfg)
	}
	return fmt.Errorf("there is no command %q; try lhsql help", args[0])
}

func usage() {
	var b strings.Builder
	b.WriteString("lhsql: SQL over Apache Iceberg tables\n\nCommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-28s %s\n", strings.TrimSpace(c.name+" "+c.args), c.doc)
	}
	b.WriteString("\nOptions, as --name value, as LHSQL_NAME in the environment (dots become __), or in the file:\n")
	for _, o := range options {
		def := ""
		if o.def != "" {
			def = " (" + o.def + ")"
		}
		fmt.Fprintf(&b, "  %-28s %s%s\n", o.name, o.doc, def)
	}
	fmt.Print(b.String())
}
