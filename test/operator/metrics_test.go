package operator_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/garm-operator/garm-operator/internal/dev/devcert"
)

// logins stands before a server, notes what tokens say of their end, and can take one for invalid.
type logins struct {
	mu      sync.Mutex
	ends    []int64
	refused int64
}

func (l *logins) front(t *testing.T, server string) string {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorLog = quiet
	proxy.ModifyResponse = func(res *http.Response) error {
		if !strings.HasSuffix(res.Request.URL.Path, "/auth/login") || res.StatusCode != http.StatusOK {
			return nil
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return err
		}
		res.Body = io.NopCloser(strings.NewReader(string(body)))
		var answer struct{ Token string }
		if err := json.Unmarshal(body, &answer); err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ends = append(l.ends, tokenEnd(answer.Token))
		return nil
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		l.mu.Lock()
		refuse := l.refused != 0 && tokenEnd(token) == l.refused
		l.mu.Unlock()
		if refuse {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":"Authentication failed","details":""}`)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// last is the end of the latest token, 0 before the first.
func (l *logins) last() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ends) == 0 {
		return 0
	}
	return l.ends[len(l.ends)-1]
}

func (l *logins) refuse(end int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = end
}

// tokenEnd reads exp out of a token; 0 where there is none.
func tokenEnd(token string) int64 {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return 0
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Exp int64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(data, &claims) != nil {
		return 0
	}
	return claims.Exp
}

// clientMetric matches a sample of the known client metrics.
var clientMetric = regexp.MustCompile(`(?m)^garm_operator_client_(\w+)\{([^}]*)\} (\S+)$`)

// knownMethods are the values of the label method that users of the known operator have in their dashboards.
var knownMethods = []string{
	"Login", "client.Login", "Init", "client.Unauthenticated", "controller.Info", "controller.Update",
	"endpoints.Get", "endpoints.List", "endpoints.Create", "endpoints.Update", "endpoints.Delete",
	"credentials.Get", "credentials.List", "credentials.Create", "credentials.Update", "credentials.Delete",
	"enterprises.List", "enterprises.Create", "enterprises.Get", "enterprises.Update", "enterprises.Delete",
	"organization.List", "organization.Create", "organization.Get", "organization.Update", "organization.Delete",
	"repository.List", "repository.Create", "repository.Get", "repository.Update", "repository.Delete",
	"instances.Get", "instances.List", "instances.ListPool", "instances.Delete",
	"pool.List", "pool.CreateRepo", "pool.CreateOrg", "pool.CreateEnterprise", "pool.UpdateEnterprise", "pool.UpdatePool", "pool.GetEnterprise",
	"pool.Get", "pool.Delete", "pool.DeleteEnterprise",
}

// addedMethods are calls that the known operator does not make.
var addedMethods = []string{"providers.List", "events.Open", "events.Next", "jobs.List"}

// OP-51: the end of the token is that of the latest login, and requests are counted under the known names.
func TestOP51TokenEndAndRequests(t *testing.T) {
	t.Parallel()
	e := setup(t)
	l, metrics := &logins{}, freePort(t)
	e.program("--garm-server="+l.front(t, e.Proxy.URL()), "--operator-metrics-bind-address="+metrics)
	base := e.Base()
	e.apply(base...)
	e.ready(base...)
	shows := func(end int64) {
		t.Helper()
		e.eventually(func() error {
			text, err := get(e.ctx, "http://"+metrics+"/metrics")
			if err != nil {
				return err
			}
			for _, m := range clientMetric.FindAllStringSubmatch(text, -1) {
				if got, _ := strconv.ParseFloat(m[3], 64); m[1] == "jwt_expiration_timestamp_seconds" && m[2] == `controller="garm_operator"` && int64(got) == end {
					return nil
				}
			}
			return fmt.Errorf("the token is not shown to end at %d in:\n%s", end, text)
		})
	}
	first := l.last()
	shows(first)
	l.refuse(first)
	pool := e.Pool("p") // what it needs makes the operator log in anew
	e.apply(pool)
	e.ready(pool)
	if l.last() == first {
		t.Fatal("there was no second login")
	}
	shows(l.last())

	text, err := get(e.ctx, "http://"+metrics+"/metrics")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range clientMetric.FindAllStringSubmatch(text, -1) {
		switch m[1] {
		case "jwt_expiration_timestamp_seconds":
		case "api_requests_total", "api_requests_errors_total":
			method, ok := strings.CutPrefix(m[2], `controller="garm_operator",method="`)
			method, quoted := strings.CutSuffix(method, `"`)
			if !ok || !quoted || !slices.Contains(knownMethods, method) && !slices.Contains(addedMethods, method) {
				t.Errorf("%s has the labels %s", m[1], m[2])
			}
			seen[method] = true
		default:
			t.Errorf("there is a metric garm_operator_client_%s", m[1])
		}
	}
	for _, method := range []string{"Login", "client.Login", "Init", "pool.CreateOrg", "endpoints.Create", "credentials.Create", "organization.Create"} {
		if !seen[method] {
			t.Errorf("%s is not counted", method)
		}
	}
}

// OP-4: a sync that finds nothing to do shows as a metric and changes no resource.
func TestOP4SyncChangesNoResource(t *testing.T) {
	t.Parallel()
	e := setup(t)
	metrics := freePort(t)
	e.program("--operator-sync-period=5s", "--operator-metrics-bind-address="+metrics)
	objects := append(e.Base(), e.Pool("p"))
	e.apply(objects...)
	e.ready(objects...)
	e.synced(metrics) // what follows on the creation is over
	before := e.versions(objects...)
	e.synced(metrics)
	e.synced(metrics)
	for name, version := range e.versions(objects...) {
		if version != before[name] {
			t.Errorf("%s was written", name)
		}
	}
}

var lastSync = regexp.MustCompile(`^garm_operator_last_sync_timestamp_seconds\{.*kind="(Pool|Endpoint|Credentials)".*\} (\S+)$`)

// synced waits until everything that is read every sync period has been read anew.
func (e *env) synced(metrics string) {
	e.t.Helper()
	since := time.Now()
	e.eventually(func() error {
		text, err := get(e.ctx, "http://"+metrics+"/metrics")
		if err != nil {
			return err
		}
		fresh := 0
		for line := range strings.SplitSeq(text, "\n") {
			if !strings.HasPrefix(line, "garm_operator_last_sync") {
				continue // the page is long, and looking for the labels slow
			}
			m := lastSync.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			if at, err := strconv.ParseFloat(m[2], 64); err == nil && at > float64(since.UnixMilli())/1000 {
				fresh++
			}
		}
		if fresh < 3 {
			return fmt.Errorf("%d kinds of 3 have been read", fresh)
		}
		return nil
	})
}

// OP-59, --operator-metrics-secure, --operator-metrics-cert-dir: metrics go over TLS with the certificate that is given, to those
// only who may get them.
func TestOP59SecureMetrics(t *testing.T) {
	t.Parallel()
	e := setup(t)
	metrics := freePort(t)
	authority, err1 := devcert.NewAuthority("metrics")
	if err1 != nil {
		t.Fatal(err1)
	}
	pair, err2 := authority.Issue("127.0.0.1")
	certificate, key, err3 := devcert.EncodePair(pair)
	dir := t.TempDir()
	if err := errors.Join(
		err2, err3, os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600), os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600),
	); err != nil {
		t.Fatal(err)
	}
	e.program("--operator-metrics-secure", "--operator-metrics-cert-dir="+dir, "--operator-metrics-bind-address="+metrics)
	reader := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: e.namespace + "-metrics"}, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: reader.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: reader.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: e.namespace, Name: "prometheus"}},
	}
	e.apply(reader, binding)
	prometheus, stranger := e.token("prometheus"), e.token("stranger")
	for _, c := range []struct {
		who, token string
		want       int
	}{
		{"nobody", "", http.StatusUnauthorized},
		{"a made-up token", "eyJhbGciOiJub25lIn0.e30.", http.StatusUnauthorized},
		{"an account without the role", stranger, http.StatusForbidden},
		{"an account with the role", prometheus, http.StatusOK},
	} {
		e.eventually(func() error {
			status, body, err := secureGet(e.ctx, authority.Pool(), "https://"+metrics+"/metrics", c.token)
			if err != nil {
				return err
			}
			if status != c.want {
				return fmt.Errorf("%s gets %d, not %d", c.who, status, c.want)
			}
			if shown := strings.Contains(body, "garm_operator_"); shown != (c.want == http.StatusOK) {
				t.Errorf("%s sees metrics: %t", c.who, shown)
			}
			return nil
		})
	}
	if body, err := get(e.ctx, "http://"+metrics+"/metrics"); err == nil {
		t.Errorf("without TLS the answer is %q", body)
	}
}

// token makes an account and returns a token of it.
func (e *env) token(account string) string {
	e.t.Helper()
	a := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: account}}
	e.apply(a)
	request := &authenticationv1.TokenRequest{}
	if err := e.Kube.SubResource("token").Create(e.ctx, a, request); err != nil {
		e.t.Fatal(err)
	}
	return request.Status.Token
}

func secureGet(ctx context.Context, trusted *x509.CertPool, url, token string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}
	res, err := (&http.Client{Transport: transport, Timeout: time.Minute}).Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, string(body), err
}
