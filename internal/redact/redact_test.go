package redact

import (
	"strings"
	"testing"
)

// What is known to be harmless is shown, everything else is not, wherever it stands.
func TestProperty(t *testing.T) {
	for _, c := range [][3]string{
		{"type", "rest", "rest"},
		{"s3.region", "eu-central-1", "eu-central-1"},
		{"warehouse", "s3://bucket/path", "s3://bucket/path"},
		{"warehouse", "/srv/warehouse", "/srv/warehouse"},
		{"uri", "postgresql://anna:geheim@db:5432/iceberg?sslmode=require&password=geheim&options=-c%20x", "postgresql://***@db:5432/iceberg?sslmode=require&password=***&options=***"},
		{"uri", "postgresql://anna:ge/he@im@db/iceberg", "postgresql://***@db/iceberg"},
		{"uri", "https://catalog.example.com/v1?api_key=geheim#geheim", "https://catalog.example.com/v1?api_key=***"},
		{"uri", "https://catalog.example.com?geheim", "https://catalog.example.com?***"},
		{"uri", "host=db password=geheim", Hidden},
		{"uri", "sqlite:////srv/catalog.db", "sqlite:////srv/catalog.db"},
		{"header.Authorization", "Bearer geheim", Hidden},
		{"header.X-Api-Key", "geheim", Hidden},
		{"adls.account-key", "geheim", Hidden},
		{"adls.connection-string", "AccountKey=geheim", Hidden},
		{"s3.access-key-id", "geheim", Hidden},
		{"s3.session-token", "geheim", Hidden},
		{"something.new", "geheim", Hidden},
	} {
		if got := Property(c[0], c[1]); got != c[2] {
			t.Errorf("%s of %s is shown as %s", c[0], c[1], got)
		}
	}
}

func TestText(t *testing.T) {
	props := map[string]string{"uri": "postgresql://anna:ge%2Fheim@db/iceberg?token=abc%20def", "header.Authorization": "Bearer 0123456789abcdef", "type": "sql"}
	got := Text(`dial postgresql://anna:ge%2Fheim@db/iceberg?token=abc%20def: password "ge/heim" with Bearer 0123456789abcdef; Authorization=0123456789abcdef; q=abc+def`, props)
	for _, secret := range []string{"heim", "0123456789abcdef", "abc"} {
		if strings.Contains(got, secret) {
			t.Errorf("%q is in %s", secret, got)
		}
	}
	if !strings.Contains(got, "dial postgresql://***@db/iceberg") {
		t.Errorf("too little is left: %s", got)
	}
}

// What stores, proxies and the network library say of requests.
func TestLinks(t *testing.T) {
	for text, want := range map[string]string{
		`Get "https://b.s3.amazonaws.com/k?X-Amz-Signature=geheim&X-Amz-Credential=geheim%2Fx&region=eu": dial tcp: no such host`: `Get "https://b.s3.amazonaws.com/k?X-Amz-Signature=***&X-Amz-Credential=***&region=eu": dial tcp: no such host`,
		`<AWSAccessKeyId>x</AWSAccessKeyId> SignatureDoesNotMatch: signature: geheim, not geheim2`:                                `<AWSAccessKeyId>x</AWSAccessKeyId> SignatureDoesNotMatch: signature: ***, not geheim2`,
		`Authorization: AWS4-HMAC-SHA256 Credential=geheim/20260101/us-east-1/s3/aws4_request, Signature=geheim`:                  `Authorization: AWS4-HMAC-SHA256 ***, Signature=***`,
		`authorization=Bearer geheim`:                            `authorization=Bearer ***`,
		`read s3://b/x/file.parquet: unexpected EOF`:             `read s3://b/x/file.parquet: unexpected EOF`,
		`https://anna:geheim@acc.blob/x?sv=1&sig=geheim refused`: `https://***@acc.blob/x?sv=***&sig=*** refused`,
	} {
		if got := Links(text); got != want {
			t.Errorf("%s\nbecame %s\nnot    %s", text, got, want)
		}
	}
}
