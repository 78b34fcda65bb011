package pg

import (
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"errors"

	"github.com/xdg-go/scram"
)

// serverEndpoint is the tls-server-end-point binding (RFC 5929, section 4.1) of the
// certificate that this server showed: its hash by the signature's algorithm, SHA-256 for
// MD5 and SHA-1.
func serverEndpoint(cfg *tls.Config, _ *tls.Conn) (scram.ChannelBinding, error) {
	if len(cfg.Certificates) != 1 || len(cfg.Certificates[0].Certificate) == 0 {
		return scram.ChannelBinding{}, errors.New("no single server certificate")
	}
	der := cfg.Certificates[0].Certificate[0]
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return scram.ChannelBinding{}, err
	}
	var sum []byte
	switch cert.SignatureAlgorithm {
	case x509.SHA384WithRSA, x509.ECDSAWithSHA384, x509.SHA384WithRSAPSS:
		h := sha512.Sum384(der)
		sum = h[:]
	case x509.SHA512WithRSA, x509.ECDSAWithSHA512, x509.SHA512WithRSAPSS:
		h := sha512.Sum512(der)
		sum = h[:]
	case x509.PureEd25519:
		return scram.ChannelBinding{}, errors.New("undefined for Ed25519")
	default:
		h := sha256.Sum256(der)
		sum = h[:]
	}
	return scram.ChannelBinding{Type: scram.ChannelBindingTLSServerEndpoint, Data: sum}, nil
}
