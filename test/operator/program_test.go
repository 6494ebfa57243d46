package operator_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	garmclient "github.com/garm-operator/garm-operator/garm/client"
	"github.com/garm-operator/garm-operator/internal/dev/devcert"
	"github.com/garm-operator/garm-operator/internal/dev/freeport"
	"github.com/garm-operator/garm-operator/internal/dev/programs"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// quiet is for servers whose clients fail on purpose.
var quiet = log.New(io.Discard, "", 0)

// build builds the program once.
var build = sync.OnceValues(func() (*programs.Programs, error) {
	p, err := programs.Build(context.Background(), "../..", "garm-operator")
	built = p
	return p, err
})

// built is what build has built, nil before.
var built *programs.Programs

// program starts the real program with the flags that every start needs and some more. What it logs is returned.
func (e *env) program(flags ...string) *stack.Output {
	e.t.Helper()
	operator, err := build()
	if err != nil {
		e.t.Fatal(err)
	}
	all := append([]string{
		"--garm-username=" + stack.User, "--garm-email=" + stack.Email, "--operator-watch-namespace=" + e.namespace,
		"--operator-metrics-bind-address=" + freePort(e.t), "--operator-health-probe-bind-address=" + freePort(e.t), "--kubeconfig=" + e.plane.Kubeconfig,
		"--garm-server=" + e.Proxy.URL(), "--garm-password-file=" + e.passwordFile(stack.Password),
	}, flags...)
	out := &stack.Output{}
	cmd := exec.Command(operator.Path("garm-operator"), all...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			e.t.Errorf("the program ended with %v", err)
		}
		if strings.Contains(out.String(), stack.Password) {
			e.t.Error("the log has the password")
		}
		if e.t.Failed() {
			e.t.Log(out.String())
		}
	})
	return out
}

// passwordFile writes the file that holds the password, as editors and Secrets do, with a newline.
func (e *env) passwordFile(password string) string {
	e.t.Helper()
	path := filepath.Join(e.dir, "password")
	if err := os.WriteFile(path, []byte(password+"\n"), 0o600); err != nil {
		e.t.Fatal(err)
	}
	return path
}

func freePort(t *testing.T) string {
	t.Helper()
	address, err := freeport.Address(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func get(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	res, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = errors.New(res.Status)
	}
	return string(body), err
}

// OP-51, --operator-metrics-bind-address, --operator-health-probe-bind-address, -v 0: metrics and probes are served, the
// end of the token among them; at rest nothing is logged.
func TestOP51MetricsAndHealth(t *testing.T) {
	t.Parallel()
	e := setup(t)
	metrics, health := freePort(t), freePort(t)
	out := e.program("--operator-metrics-bind-address="+metrics, "--operator-health-probe-bind-address="+health)
	objects := append(e.Base(), e.Pool("p"))
	e.apply(objects...)
	e.ready(objects...)
	for _, path := range []string{"/healthz", "/readyz"} {
		if _, err := get(e.ctx, "http://"+health+path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	text, err := get(e.ctx, "http://"+metrics+"/metrics")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^garm_operator_client_jwt_expiration_timestamp_seconds\{.*\} (\S+)$`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no metric of the token's end in:\n%s", text)
	}
	seconds, err := strconv.ParseFloat(found[1], 64)
	if end := time.Until(time.Unix(int64(seconds), 0)); err != nil || end < time.Hour || end > 25*time.Hour {
		t.Errorf("the token ends in %s, %v", end, err)
	}
	if !strings.Contains(text, "garm_operator_server_up{") {
		t.Error("no metric says that the server is up")
	}
	if !strings.Contains(out.String(), `"created at GARM"`) {
		t.Errorf("a creation is not logged: %s", out.String())
	}
	before := out.String()
	time.Sleep(3 * time.Second) // nothing may happen, and nothing tells when it has not
	if now := out.String(); now != before {
		t.Errorf("at rest the program logs %q", strings.TrimPrefix(now, before))
	}
}

// --log-format=json, -v: every line is JSON, and a higher level tells more.
func TestOP44LogFlags(t *testing.T) {
	t.Parallel()
	lines := map[string]int{}
	for _, level := range []string{"0", "4"} {
		e := setup(t)
		out := e.program("--log-format=json", "-v="+level)
		objects := append(e.Base(), e.Pool("p"))
		e.apply(objects...)
		e.ready(objects...)
		for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
			var parsed map[string]any
			if err := json.Unmarshal([]byte(line), &parsed); err != nil && strings.HasSuffix(line, "}") {
				t.Errorf("a line is not JSON: %q", line)
			}
			lines[level]++
		}
	}
	if lines["4"] <= lines["0"] {
		t.Errorf("lines by level: %v", lines)
	}
}

// OP-43, --kubeconfig, --context: the context that is named counts, not the file's current one.
func TestOP43KubeconfigContext(t *testing.T) {
	t.Parallel()
	e := setup(t)
	config, err := clientcmd.LoadFromFile(e.plane.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts["good"] = config.Contexts[config.CurrentContext]
	bad := config.Clusters[config.Contexts["good"].Cluster].DeepCopy()
	bad.Server = "https://" + freePort(t)
	config.Clusters["bad"] = bad
	wrong := config.Contexts["good"].DeepCopy()
	wrong.Cluster = "bad"
	config.Contexts["bad"], config.CurrentContext = wrong, "bad"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	e.program("--kubeconfig="+path, "--context=good")
	objects := e.Base()
	e.apply(objects...)
	e.ready(objects...)
}

// OP-49, --garm-init=false: an empty server is not taken possession of, and the resources say why nothing happens.
func TestOP49NoInit(t *testing.T) {
	t.Parallel()
	e := setup(t)
	e.config.GARM.Init = false
	e.run()
	objects := e.Base()
	e.apply(objects...)
	e.condition(e.Organization(stack.Org), v1beta1.ConditionReady, "False", v1beta1.ReasonGarmUnavailable)
	time.Sleep(2 * time.Second) // it may not try later either
	counts := e.Proxy.Counts()
	if n := counts.Of("POST", "/first-run", 0); n > 0 {
		t.Errorf("%d calls of first-run", n)
	}
	if n := counts.Requests(); n > 10 {
		t.Errorf("%d requests to a server that lets nobody in:\n%s", n, counts)
	}
	e.initialise()
}

// OP-49: a wrong password is tried seldom, and said.
func TestOP49WrongPassword(t *testing.T) {
	t.Parallel()
	e := setup(t)
	e.initialise()
	e.config.GARM.Password = "not-" + stack.Password
	e.run()
	objects := e.Base()
	e.apply(objects...)
	e.condition(e.Organization(stack.Org), v1beta1.ConditionReady, "False", v1beta1.ReasonGarmUnavailable)
	time.Sleep(4 * time.Second) // long enough for a hot loop to show
	if n := e.Proxy.Counts().Of("POST", "/auth/login", 0); n > 5 {
		t.Errorf("%d logins with a wrong password", n)
	}
	if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(objects[5]), objects[5]); err != nil {
		t.Fatal(err)
	}
}

// --garm-password-file: the file is read at each login, so that a new password works without a restart.
func TestPasswordFileIsReadAnew(t *testing.T) {
	t.Parallel()
	e := setup(t)
	e.program()
	objects := e.Base()
	e.apply(objects...)
	e.ready(objects...)
	if err := e.LoseDatabase(); err != nil {
		t.Fatal(err)
	}
	const rotated = "nB7-wT3v_Qk5zX8y"
	e.passwordFile(rotated)
	if err := e.StartGARM(e.ctx); err != nil {
		t.Fatal(err)
	}
	fresh, err := garmclient.New(garmclient.Config{BaseURL: e.ServerURL(), Username: stack.User, Password: garmclient.Password(rotated)})
	if err != nil {
		t.Fatal(err)
	}
	e.eventually(func() error {
		found, err := fresh.ListOrganizations(e.ctx)
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%d organizations", len(found))
		}
		return err
	})
}

// OP-67, --garm-ca-file, --garm-client-cert-file: a server behind TLS of a private authority, which wants to see a
// certificate.
func TestOP67PrivateAuthority(t *testing.T) {
	t.Parallel()
	e := setup(t)
	authority, err := devcert.NewAuthority("private")
	if err != nil {
		t.Fatal(err)
	}
	serving, err1 := authority.Issue("127.0.0.1")
	own, err2 := authority.Issue("garm-operator")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(e.Proxy.URL())
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(target))
	front.TLS = &tls.Config{
		Certificates: []tls.Certificate{serving}, MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authority.Pool(),
	}
	front.Config.ErrorLog = quiet
	front.StartTLS()
	t.Cleanup(front.Close)
	certificate, key, err := devcert.EncodePair(own)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, content []byte) string {
		path := filepath.Join(e.dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	e.config.GARM.Server = front.URL
	e.config.GARM.ClientCertFile, e.config.GARM.ClientKeyFile = file("own.pem", certificate), file("own.key", key)
	e.run() // without the authority
	objects := append(e.Base(), e.Pool("p"))
	e.apply(objects...)
	e.condition(e.Organization(stack.Org), v1beta1.ConditionReady, "False", v1beta1.ReasonGarmUnavailable)
	e.stop()
	e.config.GARM.CAFile = file("ca.pem", bytes.Join([][]byte{[]byte("# our authority\n"), authority.PEM()}, nil))
	e.run()
	e.ready(objects...)
}
