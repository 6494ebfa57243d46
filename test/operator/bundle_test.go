package operator_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/devcert"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// OP-54: a GitHub behind a private authority is reached with its bundle, comments and CRLF in it or not; a new bundle is
// sent once, one that was exchanged at the server is put back, and none any more clears it there.
func TestOP54CABundle(t *testing.T) {
	t.Parallel()
	authority, err := devcert.NewAuthority("enterprise server")
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := authority.Issue("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	e := setup(t, func(o *stack.Options) {
		o.GitHub.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	})
	e.run()
	base := e.Base()
	endpoint := base[3].(*v1beta1.GitHubEndpoint)
	endpoint.Spec.CACertBundleSecretRef = &v1beta1.SecretRef{Name: "ca", Key: stack.SecretKey}
	e.apply(base...)
	e.condition(endpoint, v1beta1.ConditionReady, "False", v1beta1.ReasonFetchingWebhookSecretRefFailed)
	first := bytes.ReplaceAll(append([]byte("# our authority\n"), authority.PEM()...), []byte("\n"), []byte("\r\n"))
	e.apply(e.Secret("ca", string(first)))
	e.ready(base...) // the Organization among them: its pool manager has spoken to GitHub
	have := func(want []byte) func() error {
		return func() error {
			at, err := e.GARM.GetEndpoint(e.ctx, stack.EndpointName)
			if err == nil && !bytes.Equal(bytes.TrimSpace(at.CACertBundle), bytes.TrimSpace(want)) {
				err = fmt.Errorf("the server has the bundle %q", at.CACertBundle)
			}
			return err
		}
	}
	e.eventually(have(first))
	before := e.Proxy.Counts()
	puts := func() int { return e.Proxy.Counts().Since(before).Of("PUT", "/github/endpoints/{id}", 0) }
	other, err := devcert.NewAuthority("next")
	if err != nil {
		t.Fatal(err)
	}
	second := append(authority.PEM(), other.PEM()...)
	edit(e, e.Secret("ca", ""), func(s *corev1.Secret) { s.Data[stack.SecretKey] = second })
	e.eventually(have(second))
	e.ready(base...)
	if n := puts(); n != 1 {
		t.Errorf("%d PUTs for a new bundle", n)
	}
	exchange := func() {
		t.Helper()
		bundle := other.PEM()
		if _, err := e.GARM.UpdateEndpoint(e.ctx, stack.EndpointName, garm.UpdateEndpointParams{CACertBundle: &bundle}); err != nil {
			t.Fatal(err)
		}
	}
	exchange()
	e.eventually(have(second)) // what somebody exchanges at the server is put back, also while the operator is down
	e.stop()
	exchange()
	e.run()
	e.eventually(have(second))
	e.ready(base...)
	if n := puts(); n != 3 {
		t.Errorf("%d PUTs for a new bundle and two that were exchanged at the server", n)
	}
	edit(e, endpoint, func(o *v1beta1.GitHubEndpoint) { o.Spec.CACertBundleSecretRef = nil })
	e.eventually(have(nil))
	e.ready(endpoint)
	if n := puts(); n != 4 {
		t.Errorf("%d PUTs for all that and none any more", n)
	}
}

// OP-11: a server that adds tags of its own has them shown in the status, and is not asked over and over to take them away.
func TestOP11TagsThatTheServerAdds(t *testing.T) {
	t.Parallel()
	e := setup(t)
	e.Proxy.Speak(garmproxy.MoreTags("self-hosted", "x64", "Linux"))
	e.run()
	pool := e.Pool("p")
	pool.Spec.Tags = []string{"ubuntu"}
	objects := append(e.Base(), pool)
	e.apply(objects...)
	e.ready(objects...)
	for _, max := range []int64{6, 7} {
		edit(e, pool, func(p *v1beta1.Pool) { p.Spec.MaxRunners = max })
		e.eventually(func() error {
			if pools := e.pools(); len(pools) != 1 || int64(pools[0].MaxRunners) != max {
				return fmt.Errorf("the server has %+v", pools)
			}
			return nil
		})
		e.ready(objects...)
		if got := fmt.Sprint(pool.Status.Tags); got != "[Linux self-hosted ubuntu x64]" {
			t.Errorf("status has tags %s", got)
		}
	}
	time.Sleep(2 * time.Second)                                   // nothing may happen, and nothing tells when it has not
	if n := e.Proxy.Counts().Of("PUT", "/pools/{id}", 0); n > 3 { // one that asks for the tags, and one for each edit
		t.Errorf("%d PUTs:\n%s", n, e.Proxy.Counts())
	}
	e.ready(pool)
}

// OP-6, OP-11: the status of a Pool shows the tags of the server, and what is cleared goes at the server.
func TestOP11TagsOfTheServer(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	pool := e.Pool("p")
	pool.Spec.Tags, pool.Spec.RunnerPrefix, pool.Spec.ExtraSpecs = []string{"zeta", "alpha"}, "big", `{"a": 1}`
	objects := append(e.Base(), pool)
	e.apply(objects...)
	e.ready(objects...)
	if fmt.Sprint(pool.Status.Tags) != "[alpha zeta]" {
		t.Errorf("status has tags %v", pool.Status.Tags)
	}
	edit(e, pool, func(p *v1beta1.Pool) {
		p.Spec.Tags, p.Spec.RunnerPrefix, p.Spec.ExtraSpecs = []string{"beta"}, "", ""
	})
	e.ready(pool)
	at, err := e.GARM.GetPool(e.ctx, pool.Status.ID)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(pool.Status.Tags) != "[beta]" || len(at.Tags) != 1 || at.RunnerPrefix != "garm" && at.RunnerPrefix != "" {
		t.Errorf("status has tags %v, the server tags %v and prefix %q", pool.Status.Tags, at.Tags, at.RunnerPrefix)
	}
	if extra := bytes.TrimSpace(at.ExtraSpecs); len(extra) > 0 && !bytes.Equal(extra, []byte("{}")) && !bytes.Equal(extra, []byte("null")) {
		t.Errorf("the server still has the extra specs %s", extra)
	}
}

// OP-61: a server that has no URLs yet answers 409; the configuration is accepted all the same and heals it.
func TestOP61URLsRequired(t *testing.T) {
	t.Parallel()
	e := setup(t)
	e.Proxy.Speak(garmproxy.V015())
	e.run()
	org := e.Organization(stack.Org)
	base := e.Base()
	e.apply(org)
	e.condition(org, v1beta1.ConditionReady, "False", v1beta1.ReasonControllerURLsMissing)
	e.apply(base[2])
	e.ready(base[2])
	if n := e.Proxy.Counts().Of("PUT", "/controller", http.StatusOK); n != 1 {
		t.Errorf("%d PUTs of the controller's URLs", n)
	}
	e.apply(base[0], base[1], base[3], base[4])
	e.ready(org)
}

// OP-48: a token that the server no longer takes is renewed by one login, however many resources want it at once.
func TestOP48TokenExpires(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	pools := e.Pools(20)
	objects := append(e.Base(), pools...)
	e.apply(objects...)
	e.ready(objects...)
	before := e.Proxy.Counts()
	e.Proxy.Inject(garmproxy.Fault{Method: "PUT", Times: 2, Status: http.StatusUnauthorized})
	edit(e, e.Image(stack.ImageName, ""), func(i *v1beta1.Image) { i.Spec.Tag = "ubuntu-26.04" })
	e.eventually(func() error {
		for _, p := range e.pools() {
			if p.Image != "ubuntu-26.04" {
				return fmt.Errorf("a pool has image %q", p.Image)
			}
		}
		return nil
	})
	e.ready(objects...)
	counts := e.Proxy.Counts().Since(before)
	if n := counts.Of("POST", "/auth/login", 0); n < 1 || n > 2 {
		t.Errorf("%d logins after 2 refusals:\n%s", n, counts)
	}
	if n := counts.Of("PUT", "/pools/{id}", http.StatusOK); n != 20 {
		t.Errorf("%d PUTs for 20 pools:\n%s", n, counts)
	}
}

// OP-48: tokens that really end cost one login each, however many resources are at work; nothing fails, and nothing is done twice.
func TestOP48TokensThatEnd(t *testing.T) {
	t.Parallel()
	const life = 4 * time.Second
	e := setup(t, func(o *stack.Options) { o.TokenLife = life }).run()
	pools := e.Pools(20)
	objects := append(e.Base(), pools...)
	e.apply(objects...)
	e.ready(objects...)
	before, start, rounds := e.Proxy.Counts(), time.Now(), 0
	logins := func() int { return e.Proxy.Counts().Since(before).Of("POST", "/auth/login", 0) }
	for ; logins() < 3; rounds++ {
		tag := fmt.Sprintf("ubuntu-%d", rounds)
		edit(e, e.Image(stack.ImageName, ""), func(i *v1beta1.Image) { i.Spec.Tag = tag })
		e.eventually(func() error {
			for _, p := range e.pools() {
				if p.Image != tag {
					return fmt.Errorf("a pool has image %q, not %q", p.Image, tag)
				}
			}
			return nil
		})
	}
	e.ready(objects...)
	counts, took := e.Proxy.Counts().Since(before), time.Since(start)
	// Tokens end at whole seconds; the first and the last of them may be of the time before and after.
	if n, most := counts.Of("POST", "/auth/login", 0), int(took/(life-time.Second))+2; n > most {
		t.Errorf("%d logins in %s, more than %d:\n%s", n, took, most, counts)
	}
	if n := counts.Of("PUT", "/pools/{id}", http.StatusOK); n != rounds*len(pools) {
		t.Errorf("%d PUTs for %d pools in %d rounds:\n%s", n, len(pools), rounds, counts)
	}
	if n := counts.Of("POST", "/organizations/{id}/pools", 0) + counts.Of("DELETE", "", 0); n > 0 {
		t.Errorf("%d pools were made or removed", n)
	}
}
