package server_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	wire "github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/garm/provider"
	"github.com/garm-operator/garm-operator/internal/dev/devcert"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
	"github.com/garm-operator/garm-operator/internal/server/fleet"
)

const appID, installationID = 77, 7700

// newApp makes a GitHub App, as the forge and as a user know it.
func newApp(t *testing.T) (githubsim.App, *wire.App) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return githubsim.App{ID: appID, PublicKey: &key.PublicKey, Installations: []int64{installationID}},
		&wire.App{AppID: appID, InstallationID: installationID, PrivateKey: private}
}

// A GitHub Enterprise Server with a certificate of an internal authority works on every path, by what its endpoint
// trusts, and the runners are told of the authority.
func TestSV41InternalCertificateAuthority(t *testing.T) {
	t.Parallel()
	authority, err := devcert.NewAuthority("internal")
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := authority.Issue("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	forgeApp, app := newApp(t)
	for name, o := range map[string]options{
		"token":              {},
		"app":                {app: app},
		"registration token": {disableJIT: true},
	} {
		t.Run("SV-41 "+name, func(t *testing.T) {
			o.ca = authority.PEM()
			o.github = githubsim.Options{TLS: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}, Apps: []githubsim.App{forgeApp}}
			o.limits = fleet.Limits{SweepEvery: time.Second}
			w := newWorld(t, o)
			pool := w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners, p.MaxRunners = 1, 1 })
			i := w.settled(1, wire.InstanceRunning)[0]
			w.isToldOf(i, authority.PEM())
			if o.disableJIT {
				if code, text := w.send(http.MethodGet, "/api/v1/metadata/runner-registration-token", w.park.token(t, i.Name), nil, nil); code != http.StatusOK {
					t.Errorf("the registration token: %d %s", code, text)
				}
			} else {
				w.updatePool(pool.ID, wire.UpdatePoolParams{Enabled: new(bool)})
				if err := w.client.DeleteInstance(t.Context(), i.Name, false); err != nil {
					t.Error(err)
				}
				w.settled(0, "")
				if left := w.github.Runners(""); len(left) != 0 {
					t.Errorf("GitHub still has %+v", left)
				}
			}
			w.await(func() error {
				if w.github.CallsTo("GET", "/actions/runners") < 2 {
					return fmt.Errorf("the runners were not compared: %v", w.github.Calls())
				}
				return nil
			})
			for _, text := range []string{"x509", "unknown authority"} {
				if strings.Contains(w.log.String(), text) {
					t.Errorf("the log speaks of %s", text)
				}
			}
		})
	}
}

// isToldOf checks that the machine of an instance gets a CA bundle, from the provider and from the server.
func (w *world) isToldOf(i wire.Instance, bundle []byte) {
	w.t.Helper()
	data, err := os.ReadFile(w.park.machine(i.Name))
	if err != nil {
		w.t.Fatal(err)
	}
	var given provider.BootstrapInstance
	if err := json.Unmarshal(data, &given); err != nil {
		w.t.Fatal(err)
	}
	if !bytes.Contains(given.CACertBundle, bytes.TrimSpace(bundle)) {
		w.t.Error("the provider is not told of the authority")
	}
	code, text := w.send(http.MethodGet, "/api/v1/metadata/system/cert-bundle", string(given.InstanceToken), nil, nil)
	var answer struct {
		Roots map[string][]byte `json:"root_certificates"`
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		w.t.Fatalf("the bundle answers %d %s", code, text)
	}
	found := slices.ContainsFunc(slices.Collect(maps.Values(answer.Roots)), func(root []byte) bool {
		return bytes.Equal(bytes.TrimSpace(root), bytes.TrimSpace(bundle))
	})
	if !found {
		w.t.Errorf("the bundle does not hold the authority: %s", text)
	}
}
