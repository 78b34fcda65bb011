package engine

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// CopySpec says how a COPY statement's data looks (PostgreSQL manual, COPY). The wire does the
// encoding, the engine the rows.
type CopySpec struct {
	In           bool   // FROM STDIN; else TO STDOUT
	Format       string // "text", "csv", "binary"
	Delimiter    byte
	Null         string
	Header       bool
	MatchNames   bool // HEADER MATCH
	Quote        byte
	Escape       byte
	ForceQuote   map[string]bool // columns; "*": all
	ForceNull    map[string]bool
	ForceNotNull map[string]bool
	Columns      []ResultColumn // what the data's columns are
}

// copySpec reads a COPY statement's options.
func copySpec(c *ast.Copy) (*CopySpec, error) {
	if !c.Stdin {
		return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "COPY to or from a file of the server is not supported").
			WithHint("Use COPY … FROM STDIN or TO STDOUT, or psql's \\copy.")
	}
	s := &CopySpec{In: c.From, Format: "text"}
	opt := map[string]string{}
	for k, v := range c.Options {
		opt[strings.ToLower(k)] = v
	}
	if f, ok := opt["format"]; ok {
		s.Format = strings.ToLower(f)
	}
	for _, f := range []string{"csv", "binary"} { // the old spelling: COPY … WITH CSV
		if _, ok := opt[f]; ok {
			s.Format = f
		}
	}
	s.Delimiter, s.Null = '\t', `\N`
	if s.Format == "csv" {
		s.Delimiter, s.Null, s.Quote, s.Escape = ',', "", '"', '"'
	}
	names := func(v string) map[string]bool {
		m := map[string]bool{}
		for _, n := range strings.Split(v, ",") {
			m[strings.TrimSpace(n)] = true
		}
		return m
	}
	for k, v := range opt {
		switch k {
		case "format", "csv", "binary", "freeze":
		case "delimiter", "quote", "escape":
			if len(v) != 1 {
				return nil, sqlerr.New(sqlerr.InvalidParameterValue, "COPY %s must be a single one-byte character", k).At(c.Pos)
			}
			if s.Format == "binary" || (k != "delimiter" && s.Format != "csv") {
				return nil, sqlerr.New(sqlerr.FeatureNotSupported, "COPY %s is not available in %s mode", k, s.Format).At(c.Pos)
			}
			switch k {
			case "delimiter":
				s.Delimiter = v[0]
			case "quote":
				if s.Quote = v[0]; opt["escape"] == "" {
					s.Escape = v[0]
				}
			case "escape":
				s.Escape = v[0]
			}
		case "null":
			s.Null = v
		case "header":
			switch b, ok := parseBoolSetting(v); {
			case v == "":
				s.Header = true
			case ok:
				s.Header = b
			case strings.EqualFold(v, "match"):
				s.Header, s.MatchNames = true, true
			default:
				return nil, sqlerr.New(sqlerr.SyntaxError, "header requires a Boolean value or \"match\"").At(c.Pos)
			}
		case "encoding":
			if _, err := checkEncoding(v); err != nil {
				return nil, err
			}
		case "force_quote":
			s.ForceQuote = names(v)
		case "force_null":
			s.ForceNull = names(v)
		case "force_not_null":
			s.ForceNotNull = names(v)
		default:
			return nil, sqlerr.New(sqlerr.SyntaxError, "option %q not recognized", k).At(c.Pos)
		}
	}
	switch s.Format {
	case "text", "csv", "binary":
	default:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "COPY format %q not recognized", s.Format).At(c.Pos)
	}
	return s, nil
}
