// Package redact answers: what of a configuration may be shown? What is known to be harmless is;
// everything else is ***, for new kinds of secrets come with every catalog and store.
package redact

import (
	"net/url"
	"regexp"
	"sort"
	"strings"
)

// Hidden stands for what is not shown.
const Hidden = "***"

// harmless are the properties of catalogs that hold no secret. A URI's parts are looked at one by
// one besides.
var harmless = map[string]bool{
	"type": true, "uri": true, "warehouse": true, "prefix": true, "scope": true,
	"s3.region": true, "s3.endpoint": true, "s3.path-style-access": true, "s3.force-virtual-addressing": true,
	"s3.connect-timeout": true, "s3.request-timeout": true, "client.region": true, "client.endpoint": true,
	"gcs.endpoint": true, "gcs.project-id": true, "adls.account-name": true, "adls.endpoint": true,
	"rest.sigv4-enabled": true, "rest.signing-region": true, "rest.signing-name": true,
	"py-io-impl": true, "io-impl": true, "table-default.write.format.default": true,
	"lhsql.allowed-locations": true, "lhsql.lock-timeout-ms": true, "oauth2-server-uri": true,
}

// harmlessQuery are the parameters of a URI's query that hold no secret.
var harmlessQuery = map[string]bool{
	"sslmode": true, "ssl": true, "connect_timeout": true, "application_name": true, "target_session_attrs": true,
	"sslrootcert": true, "sslcert": true, "sslsni": true, "search_path": true, "host": true, "port": true,
	"region": true, "timeout": true, "pool_max_conns": true, "charset": true, "mode": true, "cache": true,
}

// Property is a catalog property's value as it may be shown.
func Property(name, value string) string {
	if !harmless[strings.ToLower(name)] {
		return Hidden
	}
	if !strings.Contains(value, "://") && strings.ContainsAny(value, "?@=") {
		return Hidden // a connection string of another kind
	}
	return URI(value)
}

// URI is a value as it may be shown that may be a URI: without user, password and fragment, and
// with what is known to be harmless of its query.
func URI(s string) string {
	head, query, asked := strings.Cut(s, "?")
	if !strings.Contains(head, "://") {
		return s // no URI
	}
	scheme, rest, _ := strings.Cut(head, "://")
	rest, _, _ = strings.Cut(rest, "#")
	authority, path, slash := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		// A password may hold a slash that nobody escaped: all before the last @ goes.
		authority, path, slash = strings.Cut(rest[at+1:], "/")
		authority = Hidden + "@" + authority
	}
	out := scheme + "://" + authority
	if slash {
		out += "/" + path
	}
	if !asked {
		return out
	}
	query, _, _ = strings.Cut(query, "#")
	var kept []string
	for _, kv := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }) {
		k, _, has := strings.Cut(kv, "=")
		switch {
		case harmlessQuery[strings.ToLower(k)]:
			kept = append(kept, kv)
		case has:
			kept = append(kept, k+"="+Hidden)
		default:
			kept = append(kept, Hidden)
		}
	}
	return out + "?" + strings.Join(kept, "&")
}

// Text is a message, such as an error, without what of a catalog's properties may not be shown,
// however it is escaped.
func Text(text string, props map[string]string) string {
	var secrets []string
	add := func(s string) {
		if len(s) > 2 {
			secrets = append(secrets, s, url.QueryEscape(s), url.PathEscape(s))
		}
	}
	for k, v := range props {
		if !harmless[strings.ToLower(k)] {
			add(v)
			// A header's scheme is no secret, what follows is one by itself.
			for _, w := range strings.Fields(v) {
				if len(w) > 7 {
					add(w)
				}
			}
			continue
		}
		shown := URI(v)
		if shown == v {
			continue
		}
		text = strings.ReplaceAll(text, v, shown)
		if u, err := url.Parse(v); err == nil {
			if pw, ok := u.User.Password(); ok {
				add(pw)
			}
			for q, list := range u.Query() {
				for _, x := range list {
					if !harmlessQuery[strings.ToLower(q)] {
						add(x)
					}
				}
			}
			add(u.Fragment)
		}
		if _, rest, ok := strings.Cut(v, "://"); ok {
			if at := strings.LastIndexByte(rest, '@'); at >= 0 {
				if _, pw, ok := strings.Cut(rest[:at], ":"); ok {
					add(pw)
				}
			}
		}
	}
	sort.Slice(secrets, func(i, j int) bool { return len(secrets[i]) > len(secrets[j]) })
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, Hidden)
	}
	return Links(text)
}

var (
	link = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)
	// proof is what a request proves itself with, as headers and queries spell it.
	proof = regexp.MustCompile(`(?i)\b(x-amz-signature|x-amz-credential|x-amz-security-token|x-goog-signature|x-goog-credential|signature|credential|sig|sessiontoken|awsaccesskeyid|authorization)(["']?\s*[:=]\s*)((?:(?:bearer|basic|aws4-hmac-sha256)\s+)?["']?)[^\s"'&,;<>]+`)
)

// Links is a message in which URIs show what is known to be harmless of their queries, and keys,
// tokens and signatures of requests do not show.
func Links(text string) string {
	text = link.ReplaceAllStringFunc(text, URI)
	return proof.ReplaceAllString(text, "$1$2$3"+Hidden)
}

// Error is err, whose text is as Text has it.
func Error(err error, props map[string]string) error {
	if text := Text(err.Error(), props); text != err.Error() {
		return &shown{err, text}
	}
	return err
}

type shown struct {
	err  error
	text string
}

func (e *shown) Error() string { return e.text }
func (e *shown) Unwrap() error { return e.err }
