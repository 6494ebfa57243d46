package garm_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/app/garm"
	"github.com/garm-operator/garm-operator/internal/config/garmconfig"
	"github.com/garm-operator/garm-operator/internal/dev/freeport"
)

const goodPassphrase = "Qm7vXz2LpR9tKw4BnH8sYc3JdF6gTaE5"

// configFile writes a configuration that listens on a free port, and returns its path and the port.
func configFile(t *testing.T, dir, passphrase string) (path string, port int) {
	t.Helper()
	port, err := freeport.Port(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "garm.toml")
	text := fmt.Sprintf(`
colour = "blue"
[default]
metadata_url = "http://garm.test/metadata"
[logging]
log_file = %q
enable_log_streamer = true
[metrics]
enable = true
disable_auth = true
[jwt_auth]
secret = "app-4uQ9-vT2x_Rk8pLw7-secret"
time_to_live = "24h"
[apiserver]
bind = "127.0.0.1"
port = %d
[database]
backend = "sqlite3"
passphrase = %q
[database.sqlite3]
db_file = %q
`, filepath.Join(dir, "garm.log"), port, passphrase, filepath.Join(dir, "garm.db"))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, port
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	client := &http.Client{Timeout: 10 * time.Second}
	deadline := time.Now().Add(20 * time.Second)
	for {
		response, err := client.Get(url)
		if err == nil {
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			return response.StatusCode, string(body)
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// program runs the program with its files in a directory. It returns its port, and what stops it and proves that it ends well.
func program(t *testing.T, dir string) (port int, stop func()) {
	t.Helper()
	path, port := configFile(t, dir, goodPassphrase)
	ctx, cancel := context.WithCancel(t.Context())
	var out, errs buffer
	code := make(chan int, 1)
	go func() { code <- garm.Main(ctx, []string{"-config", path}, &out, &errs) }()
	return port, func() {
		t.Helper()
		cancel()
		select {
		case got := <-code:
			if got != 0 {
				t.Errorf("the program ends with %d: %s", got, errs.String())
			}
		case <-time.After(30 * time.Second):
			t.Fatal("the program does not end")
		}
	}
}

func TestProgram(t *testing.T) {
	dir := t.TempDir()
	port, stop := program(t, dir)
	status, body := get(t, fmt.Sprintf("http://127.0.0.1:%d/api/v1/controller-info", port))
	if status != 409 || !strings.Contains(body, "init_required") {
		t.Errorf("a new server answers %d %s", status, body)
	}
	if status, body := get(t, fmt.Sprintf("http://127.0.0.1:%d/metrics", port)); status != 200 || !strings.Contains(body, `garm_health{`) || !strings.Contains(body, `metadata_url="http://garm.test/metadata"`) {
		t.Errorf("metrics answer %d", status)
	}
	stop()
	log, err := os.ReadFile(filepath.Join(dir, "garm.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"colour", "Serving", "Stopping"} {
		if !bytes.Contains(log, []byte(want)) {
			t.Errorf("the log does not speak of %s: %s", want, log)
		}
	}
	if bytes.Contains(log, []byte(goodPassphrase)) {
		t.Error("the log holds the passphrase")
	}
}

func TestProgramRefuses(t *testing.T) {
	dir := t.TempDir()
	path, _ := configFile(t, dir, goodPassphrase)
	config, _, err := garmconfig.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	server, err := garm.New(t.Context(), garm.Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	other, _ := configFile(t, dir, "Zz7vXz2LpR9tKw4BnH8sYc3JdF6gTaE5")
	weak := filepath.Join(dir, "weak.toml")
	if err := os.WriteFile(weak, []byte("[database]\npassphrase = \"short\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		text string
	}{
		"another passphrase": {[]string{"-config", other}, 1, "database.passphrase"},
		"bad values":         {[]string{"-config", weak}, 1, "database.passphrase: must have exactly 32 characters"},
		"no file":            {[]string{"-config", filepath.Join(dir, "absent.toml")}, 1, "absent.toml"},
		"an unknown flag":    {[]string{"-nonsense"}, 2, "nonsense"},
		"an argument":        {[]string{"serve"}, 2, `unexpected argument "serve"`},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs buffer
			if got := garm.Main(t.Context(), c.args, &out, &errs); got != c.code || !strings.Contains(errs.String(), c.text) {
				t.Errorf("the program ends with %d: %s", got, errs.String())
			}
		})
	}
}

func TestVersion(t *testing.T) {
	var out buffer
	if code := garm.Main(t.Context(), []string{"-version"}, &out, io.Discard); code != 0 || !regexp.MustCompile(`^v\d+\.\d+\.\d+\n$`).MatchString(out.String()) {
		t.Errorf("the version is %q, code %d", out.String(), code)
	}
}

// Who rotates the log file has the server write on in a new one.
func TestSV5LogFileIsReopened(t *testing.T) {
	dir := t.TempDir()
	port, stop := program(t, dir)
	get(t, fmt.Sprintf("http://127.0.0.1:%d/api/v1/controller-info", port))
	file, rotated := filepath.Join(dir, "garm.log"), filepath.Join(dir, "garm.log.1")
	if err := os.Rename(file, rotated); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		text, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(text), "reopened") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the new file has %q, %v", text, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	before, err := os.ReadFile(rotated)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if after, err := os.ReadFile(rotated); err != nil || len(after) != len(before) {
		t.Errorf("the old file was written to: %s, %v", after, err)
	}
}
