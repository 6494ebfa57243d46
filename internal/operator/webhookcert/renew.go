package webhookcert

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	corev1 "k8s.io/api/core/v1"
)

// Keys of the Secret. The first certificate of the authority's file signs; one more may follow, which is still trusted.
const (
	authorityCert = "ca.crt"
	authorityKey  = "ca.key"
	serverCert    = corev1.TLSCertKey
	serverKey     = corev1.TLSPrivateKeyKey
)

const (
	authorityName = "garm-operator-webhooks"
	// clockSkew is how much earlier than now a certificate begins, for clocks that are slow.
	clockSkew = time.Hour
	// inNeed is how long before their end certificates are replaced where callers cannot be told of it.
	inNeed = time.Hour
	// maxBefore is how many authorities before the present one are trusted at most.
	maxBefore = 4
)

// needs are what a certificate has to be good for.
type needs struct {
	hosts []string
	// trusted is what callers trust now.
	trusted []byte
	// told is false while callers cannot all be told whom to trust. What there is is then kept for nearly as long as it is valid.
	told bool
}

// renew returns what the Secret must hold so that its certificate is good for what is needed; nil if it is good as it is. What
// callers trusted before stays trusted, also where the Secret has been lost, until nobody can show a certificate of it any more.
func (o Options) renew(data map[string][]byte, n needs, now time.Time) (map[string][]byte, error) {
	maker := &rotator.CertRotator{
		CAName: authorityName, CAOrganization: "garm-operator", DNSName: n.hosts[0], ExtraDNSNames: n.hosts[1:],
		ExtKeyUsages: &[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	at := now.Add(o.RenewBefore)
	if !n.told {
		at = now.Add(min(o.RenewBefore, inNeed))
	}
	before := data[authorityCert]
	if len(before) == 0 {
		before = n.trusted
	}
	authority, err := readAuthority(data)
	if err != nil || !valid(data, authorityCert, authorityKey, authorityName, nil, at) {
		if authority, err = maker.CreateCACert(now.Add(-clockSkew), now.Add(o.AuthorityLife)); err != nil {
			return nil, fmt.Errorf("make the authority: %w", err)
		}
	} else if validFor(data, n.hosts, maker.ExtKeyUsages, at) {
		all := o.bundle(authority.CertPEM, before, now)
		if !n.told || bytes.Equal(all, before) {
			return nil, nil
		}
		return map[string][]byte{authorityCert: all}, nil
	}
	cert, key, err := maker.CreateCertPEM(authority, now.Add(-clockSkew), now.Add(o.ServerLife))
	if err != nil {
		return nil, fmt.Errorf("make the certificate: %w", err)
	}
	return map[string][]byte{
		authorityCert: o.bundle(authority.CertPEM, before, now), authorityKey: authority.KeyPEM, serverCert: cert, serverKey: key,
	}, nil
}

// names returns the names that a certificate is for.
func names(text []byte) []string {
	certificate, _, err := firstCertificate(text)
	if err != nil {
		return nil
	}
	return certificate.DNSNames
}

func validFor(data map[string][]byte, hosts []string, usages *[]x509.ExtKeyUsage, at time.Time) bool {
	for _, host := range hosts {
		if !valid(data, serverCert, serverKey, host, usages, at) {
			return false
		}
	}
	return true
}

func valid(data map[string][]byte, cert, key, host string, usages *[]x509.ExtKeyUsage, at time.Time) bool {
	ok, err := rotator.ValidCert(data[authorityCert], data[cert], data[key], host, usages, at)
	return ok && err == nil
}

// renewal is when the first of the certificates in use is due, or an authority that was in use need not be trusted any more.
func (o Options) renewal(data map[string][]byte) (time.Time, error) {
	var due time.Time
	for _, key := range []string{authorityCert, serverCert} {
		certificate, rest, err := firstCertificate(data[key])
		if err != nil {
			return due, err
		}
		end := certificate.NotAfter.Add(-o.RenewBefore)
		if _, _, err := firstCertificate(rest); key == authorityCert && err == nil {
			end = o.alone(certificate)
		}
		if due.IsZero() || end.Before(due) {
			due = end
		}
	}
	return due, nil
}

// alone is from when on no replica can show a certificate of the authority before this one.
func (o Options) alone(authority *x509.Certificate) time.Time {
	return authority.NotBefore.Add(clockSkew + o.Overlap)
}

// bundle returns an authority followed by those before of which a certificate may still be shown, as long as they are valid. More
// than one may be, where authorities have been made one soon after the other.
func (o Options) bundle(authority, before []byte, now time.Time) []byte {
	all := bytes.Clone(authority)
	last, _, err := firstCertificate(authority)
	for n := 0; err == nil && n < maxBefore && now.Before(o.alone(last)); {
		var next *x509.Certificate
		if next, before, err = firstCertificate(before); err != nil {
			break
		}
		block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: next.Raw})
		if bytes.Contains(all, block) || !now.Before(next.NotAfter) {
			continue
		}
		all, last, n = append(all, block...), next, n+1
	}
	return all
}

func readAuthority(data map[string][]byte) (*rotator.KeyPairArtifacts, error) {
	certificate, _, err := firstCertificate(data[authorityCert])
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data[authorityKey])
	if block == nil {
		return nil, errors.New("no key of the authority")
	}
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the authority's key: %w", err)
	}
	if public, ok := certificate.PublicKey.(*rsa.PublicKey); !ok || !public.Equal(key.Public()) {
		return nil, errors.New("the key is not that of the authority")
	}
	return &rotator.KeyPairArtifacts{
		Cert: certificate, Key: key, CertPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw}), KeyPEM: data[authorityKey],
	}, nil
}

func firstCertificate(text []byte) (*x509.Certificate, []byte, error) {
	block, rest := pem.Decode(text)
	if block == nil {
		return nil, nil, errors.New("no certificate")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("read a certificate: %w", err)
	}
	return certificate, rest, nil
}
