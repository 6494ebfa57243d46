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
)

// renew returns what the Secret must hold so that its certificate is good for the hosts; nil if it is good as it is. What callers
// trusted before stays trusted, also where the Secret has been lost.
func (o Options) renew(data map[string][]byte, hosts []string, trusted []byte, now time.Time) (map[string][]byte, error) {
	maker := &rotator.CertRotator{
		CAName: authorityName, CAOrganization: "garm-operator", DNSName: hosts[0], ExtraDNSNames: hosts[1:],
		ExtKeyUsages: &[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	at := now.Add(o.RenewBefore)
	authority, err := readAuthority(data)
	if err != nil || !valid(data, authorityCert, authorityKey, authorityName, nil, at) {
		if authority, err = maker.CreateCACert(now.Add(-clockSkew), now.Add(o.AuthorityLife)); err != nil {
			return nil, fmt.Errorf("make the authority: %w", err)
		}
	} else if validFor(data, hosts, maker.ExtKeyUsages, at) {
		return nil, nil
	}
	cert, key, err := maker.CreateCertPEM(authority, now.Add(-clockSkew), now.Add(o.ServerLife))
	if err != nil {
		return nil, fmt.Errorf("make the certificate: %w", err)
	}
	before := data[authorityCert]
	if len(before) == 0 {
		before = trusted
	}
	return map[string][]byte{
		authorityCert: bundle(authority.CertPEM, before, now), authorityKey: authority.KeyPEM, serverCert: cert, serverKey: key,
	}, nil
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

// renewal is when the first of the certificates in use is due.
func (o Options) renewal(data map[string][]byte) (time.Time, error) {
	var due time.Time
	for _, key := range []string{authorityCert, serverCert} {
		certificate, _, err := firstCertificate(data[key])
		if err != nil {
			return due, err
		}
		if end := certificate.NotAfter.Add(-o.RenewBefore); due.IsZero() || end.Before(due) {
			due = end
		}
	}
	return due, nil
}

// bundle returns the new authority followed by the one before, as long as that is valid.
func bundle(fresh, before []byte, now time.Time) []byte {
	all := bytes.Clone(fresh)
	for len(before) > 0 {
		certificate, rest, err := firstCertificate(before)
		if err != nil {
			break
		}
		block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
		if !bytes.Equal(block, fresh) && now.Before(certificate.NotAfter) {
			return append(all, block...)
		}
		before = rest
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
