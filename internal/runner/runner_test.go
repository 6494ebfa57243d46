package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/runner"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	instanceToken     = "instance-token-5d1f"
	registrationToken = "registration-token-9a77"
)

// stub is a GARM server as far as a machine sees it.
type stub struct {
	*httptest.Server

	mu       sync.Mutex
	calls    []string // path, with the reported state behind a colon
	messages []string
	agents   []int64
	failures map[string][]int // statuses to answer with, by path, in order
}

func newStub(t *testing.T) *stub {
	t.Helper()
	s := &stub{failures: map[string][]int{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+instanceToken {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if left := s.failures[r.URL.Path]; len(left) > 0 {
		s.failures[r.URL.Path] = left[1:]
		w.WriteHeader(left[0])
		return
	}
	call := r.URL.Path
	switch r.URL.Path {
	case "/callbacks/status":
		var update garm.StatusUpdate
		_ = json.NewDecoder(r.Body).Decode(&update)
		call += ":" + string(update.Status)
		s.messages = append(s.messages, update.Message)
		if update.AgentID != nil {
			s.agents = append(s.agents, *update.AgentID)
		}
	case "/callbacks/system-info":
	case "/metadata/credentials/runner":
		_, _ = io.WriteString(w, "\xef\xbb\xbf"+`{"agentId":"7"}`)
	case "/metadata/credentials/credentials", "/metadata/credentials/credentials_rsaparams":
		_, _ = io.WriteString(w, `{}`)
	case "/metadata/runner-registration-token":
		_, _ = io.WriteString(w, registrationToken)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
	s.calls = append(s.calls, call)
}

func (s *stub) called() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.calls...)
}

// config is a just-in-time runner that is connected and ends at once.
func (s *stub) config(t *testing.T) runner.Config {
	t.Helper()
	return runner.Config{
		MetadataURL: s.URL + "/metadata/", CallbackURL: s.URL + "/callbacks/status", Token: instanceToken, JIT: true, Dir: t.TempDir(),
		URL: "http://github.test/octo-org", Name: "one", Labels: []string{"small", "linux"},
		Run:       []string{"sh", "-c", "echo 'now: Listening for Jobs'"},
		ReadyLine: runner.DefaultReadyLine, ReadyTimeout: 20 * time.Second,
	}
}

// run bootstraps a runner and returns everything that it logged and printed.
func run(t *testing.T, c runner.Config, signals <-chan os.Signal) (string, error) {
	t.Helper()
	var out syncBuffer
	b, err := runner.New(c, &out, slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	err = b.Run(ctx, signals)
	shown := out.String()
	if err != nil {
		shown += err.Error()
	}
	for _, secret := range []string{instanceToken, registrationToken} {
		if strings.Contains(shown, secret) {
			t.Errorf("a token is shown: %s", shown)
		}
	}
	return shown, err
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestJITRunner(t *testing.T) {
	s := newStub(t)
	c := s.config(t)
	if _, err := run(t, c, nil); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"/callbacks/status:installing", "/metadata/credentials/runner", "/metadata/credentials/credentials",
		"/metadata/credentials/credentials_rsaparams", "/callbacks/system-info", "/callbacks/status:idle",
	}
	if diff := cmp.Diff(want, s.called()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{7}, s.agents); diff != "" {
		t.Errorf("agent id (-want +got):\n%s", diff)
	}
	info, err := os.Stat(filepath.Join(c.Dir, ".credentials_rsaparams"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("credentials on disk: %v %v", info, err)
	}
}

func TestTokenRunner(t *testing.T) {
	s := newStub(t)
	c := s.config(t)
	c.JIT, c.Group = false, "build"
	c.Configure = []string{"sh", "-c", `echo '{"agentId":9}' >.runner; echo "$ACTIONS_RUNNER_INPUT_TOKEN" >token; echo "$@" >args`, "config"}
	if _, err := run(t, c, nil); err != nil {
		t.Fatal(err)
	}
	want := []string{"/callbacks/status:installing", "/metadata/runner-registration-token", "/callbacks/system-info", "/callbacks/status:idle"}
	if diff := cmp.Diff(want, s.called()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	token, _ := os.ReadFile(filepath.Join(c.Dir, "token"))
	if strings.TrimSpace(string(token)) != registrationToken {
		t.Errorf("the registration got the token %q", token)
	}
	args, _ := os.ReadFile(filepath.Join(c.Dir, "args"))
	wanted := "--unattended --url http://github.test/octo-org --name one --labels small,linux --no-default-labels --ephemeral --disableupdate --runnergroup build"
	if diff := cmp.Diff(wanted, strings.TrimSpace(string(args))); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

func TestBrokenServerIsTriedAgain(t *testing.T) {
	s := newStub(t)
	s.failures["/callbacks/status"] = []int{500}
	s.failures["/metadata/credentials/credentials"] = []int{503}
	if _, err := run(t, s.config(t), nil); err != nil {
		t.Fatal(err)
	}
	if calls := s.called(); calls[len(calls)-1] != "/callbacks/status:idle" {
		t.Errorf("calls end with %s", calls[len(calls)-1])
	}
}

func TestFailuresAreReported(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*runner.Config, *stub)
		want   string
	}{
		"credentials refused": {
			func(_ *runner.Config, s *stub) { s.failures["/metadata/credentials/credentials"] = []int{404} },
			"fetching the file .credentials: the server answered 404 Not Found",
		},
		"registration token was given out before": {
			func(c *runner.Config, s *stub) {
				c.JIT = false
				s.failures["/metadata/runner-registration-token"] = []int{401}
			},
			"fetching the registration token: the server answered 401 Unauthorized",
		},
		"registration fails": {
			func(c *runner.Config, _ *stub) { c.JIT, c.Configure = false, []string{"sh", "-c", "exit 3"} },
			"registering the runner: exit status 3",
		},
		"no such program": {
			func(c *runner.Config, _ *stub) { c.Run = []string{"/does/not/exist"} },
			"starting the runner: fork/exec /does/not/exist: no such file or directory",
		},
		"runner fails to connect": {
			func(c *runner.Config, _ *stub) { c.Run = []string{"sh", "-c", "echo trouble; exit 4"} },
			"the runner ended before it was connected: the runner ended with exit code 4",
		},
		"runner does not connect in time": {
			func(c *runner.Config, _ *stub) {
				c.Run, c.ReadyTimeout = []string{"sleep", "60"}, 50*time.Millisecond
			},
			"the runner was not connected within 50ms",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStub(t)
			c := s.config(t)
			tc.change(&c, s)
			if _, err := run(t, c, nil); err == nil {
				t.Fatal("no error")
			}
			calls := s.called()
			if got := calls[len(calls)-1]; got != "/callbacks/status:failed" {
				t.Errorf("the last call is %s", got)
			}
			if got := s.messages[len(s.messages)-1]; got != tc.want {
				t.Errorf("message is %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRunnerIsKeptWhenTheServerRefusesTheReport(t *testing.T) {
	s := newStub(t)
	s.failures["/callbacks/system-info"] = []int{401}
	c := s.config(t)
	c.Run = []string{"sh", "-c", "echo Listening for Jobs; echo worked >job"}
	if _, err := run(t, c, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "job")); err != nil {
		t.Errorf("the runner did not work: %v", err)
	}
	for _, call := range s.called() {
		if call == "/callbacks/status:failed" {
			t.Error("a working runner was reported as failed")
		}
	}
}

func TestExitCodeIsTheRunners(t *testing.T) {
	s := newStub(t)
	c := s.config(t)
	c.Run = []string{"sh", "-c", "echo Listening for Jobs; exit 5"}
	_, err := run(t, c, nil)
	var exit *runner.ExitError
	if !errors.As(err, &exit) || exit.Code != 5 {
		t.Errorf("got %v, want exit code 5", err)
	}
}

func TestSignalsReachTheRunner(t *testing.T) {
	s := newStub(t)
	c := s.config(t)
	c.Run = []string{"sh", "-c", `trap 'echo got it; exit 0' TERM; echo Listening for Jobs; while :; do sleep 0.05; done`}
	signals := make(chan os.Signal, 1)
	go func() {
		for !contains(s.called(), "/callbacks/status:idle") {
			time.Sleep(5 * time.Millisecond)
		}
		signals <- syscall.SIGTERM
	}()
	shown, err := run(t, c, signals)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(shown, "got it") {
		t.Errorf("the runner printed %q", shown)
	}
}

func TestSignalBeforeTheRunnerStartsEndsTheBootstrap(t *testing.T) {
	s := newStub(t)
	c := s.config(t)
	c.JIT, c.Configure = false, []string{"sh", "-c", "exec sleep 60"}
	signals := make(chan os.Signal, 1)
	go func() {
		for !contains(s.called(), "/metadata/runner-registration-token") {
			time.Sleep(5 * time.Millisecond)
		}
		signals <- syscall.SIGTERM
	}()
	if _, err := run(t, c, signals); err == nil {
		t.Fatal("no error")
	}
	if got := s.messages[len(s.messages)-1]; !strings.Contains(got, "terminated") {
		t.Errorf("message is %q", got)
	}
}

func contains(list []string, wanted string) bool {
	for _, s := range list {
		if s == wanted {
			return true
		}
	}
	return false
}
