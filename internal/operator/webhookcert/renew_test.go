package webhookcert

import (
	"bytes"
	"crypto/x509"
	"maps"
	"testing"
	"time"
)

// What the Secret holds is replaced in time, and for no other reason; an authority that was trusted stays trusted until it ends.
func TestRenew(t *testing.T) {
	o := Options{AuthorityLife: 100 * day, ServerLife: 20 * day, RenewBefore: 5 * day}.withDefaults()
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	a, b := "a.ns.svc", "b.ns.svc"
	data := map[string][]byte{}
	for _, step := range []struct {
		name              string
		day               int
		hosts             []string
		tamper            func()
		untold            bool
		fewer             bool // authorities than before are trusted, with nothing new
		authority, server bool // that they are new
		trusted           int  // authorities
	}{
		{name: "nothing there", hosts: []string{a}, authority: true, server: true, trusted: 1},
		{name: "all is well", hosts: []string{a}, trusted: 1},
		{name: "another host", hosts: []string{a, b}, server: true, trusted: 1},
		{name: "one host less", hosts: []string{b}, trusted: 1},
		{name: "just before it is due", day: 14, hosts: []string{b}, trusted: 1},
		{name: "due", day: 16, hosts: []string{b}, server: true, trusted: 1},
		{name: "the certificate does not fit its key", day: 17, hosts: []string{b}, tamper: func() { data[serverKey] = data[authorityKey] }, server: true, trusted: 1},
		{name: "the authority is due", day: 96, hosts: []string{b}, authority: true, server: true, trusted: 2},
		{name: "soon after", day: 96, hosts: []string{b}, trusted: 2},
		{name: "every replica shows the new one", day: 97, hosts: []string{b}, fewer: true, trusted: 1},
		{name: "due again", day: 112, hosts: []string{b}, server: true, trusted: 1},
		{name: "the key is lost", day: 113, hosts: []string{b}, tamper: func() { delete(data, authorityKey) }, authority: true, server: true, trusted: 2},
		{name: "and again, before a replica may have shown it", day: 113, hosts: []string{b}, tamper: func() { data[authorityKey] = []byte("x") }, authority: true, server: true, trusted: 3},
		{name: "all of them again", day: 115, hosts: []string{b}, tamper: func() { clear(data) }, authority: true, server: true, trusted: 1},
		{name: "due while nobody can be told", day: 133, hosts: []string{b}, untold: true, trusted: 1},
		{name: "the certificate ends while nobody can be told", day: 135, hosts: []string{b}, untold: true, server: true, trusted: 1},
		{name: "the authority is due while nobody can be told", day: 212, hosts: []string{b}, untold: true, server: true, trusted: 1},
		{name: "everybody can be told", day: 213, hosts: []string{b}, authority: true, server: true, trusted: 2},
	} {
		before := maps.Clone(data)
		if step.tamper != nil {
			step.tamper()
		}
		now := start.Add(time.Duration(step.day) * day)
		fresh, err := o.renew(data, needs{hosts: step.hosts, told: !step.untold}, now)
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if (fresh != nil) != (step.authority || step.server || step.fewer) {
			t.Fatalf("%s: renewed is %t", step.name, fresh != nil)
		}
		if fresh != nil {
			maps.Copy(data, fresh)
		}
		authorities := certificates(t, data[authorityCert])
		if len(authorities) != step.trusted {
			t.Errorf("%s: %d authorities", step.name, len(authorities))
		}
		server := certificates(t, data[serverCert])[0]
		roots := x509.NewCertPool()
		roots.AddCert(authorities[0])
		for _, host := range step.hosts {
			if _, err := server.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: now}); err != nil {
				t.Errorf("%s: %s: %v", step.name, host, err)
			}
		}
		if old := before[authorityCert]; old != nil && certificates(t, old)[0].Equal(authorities[0]) == step.authority {
			t.Errorf("%s: a new authority is %t", step.name, !step.authority)
		}
		if bytes.Equal(before[serverCert], data[serverCert]) == step.server {
			t.Errorf("%s: a new certificate is %t", step.name, !step.server)
		}
		due, err := o.renewal(data)
		if err != nil || due.Before(now) && !step.untold || due.After(now.Add(o.ServerLife)) {
			t.Errorf("%s: due %s: %v", step.name, due, err)
		}
	}
}

// Where the Secret is lost, what callers trust stays trusted.
func TestRenewOfALostSecret(t *testing.T) {
	o := Options{}.withDefaults()
	now := time.Now()
	first, err := o.renew(nil, needs{hosts: []string{"a"}, told: true}, now)
	if err != nil {
		t.Fatal(err)
	}
	second, err := o.renew(nil, needs{hosts: []string{"a"}, trusted: first[authorityCert], told: true}, now)
	if err != nil {
		t.Fatal(err)
	}
	if all := certificates(t, second[authorityCert]); len(all) != 2 || !all[1].Equal(certificates(t, first[authorityCert])[0]) {
		t.Errorf("%d authorities are trusted", len(all))
	}
}

func certificates(t *testing.T, text []byte) []*x509.Certificate {
	t.Helper()
	var all []*x509.Certificate
	for len(bytes.TrimSpace(text)) > 0 {
		c, rest, err := firstCertificate(text)
		if err != nil {
			t.Fatal(err)
		}
		all, text = append(all, c), rest
	}
	return all
}
