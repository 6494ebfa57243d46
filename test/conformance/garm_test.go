package conformance_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/garm-operator/garm-operator/internal/app/garm"
	"github.com/garm-operator/garm-operator/internal/config/garmconfig"
	"github.com/garm-operator/garm-operator/test/conformance/replay"
)

// startGarm starts a server with a fresh database, its forge and its provider, and returns how to replay against it.
func startGarm(t *testing.T) replay.Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	park := machines{folder: filepath.Join(dir, "machines")}
	if err := os.Mkdir(park.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config, _, err := garmconfig.Load(write("garm.toml", fmt.Sprintf(`
[default]
enable_webhook_management = true

[logging]
enable_log_streamer = true

[metrics]
enable = true
period = "10s"

[jwt_auth]
secret = "conformance-4uQ9-vT2x_Rk8pLw7-secret"
time_to_live = "24h"

[apiserver]
bind = "127.0.0.1"
port = 9997

[database]
backend = "sqlite3"
passphrase = "Qm7vXz2LpR9tKw4BnH8sYc3JdF6gTaE5"

[database.sqlite3]
db_file = %q

[[provider]]
name = "sim"
provider_type = "external"
description = "simulated machines"

[provider.external]
provider_executable = %q
config_file = %q
`, filepath.Join(dir, "garm.db"), self, write("provider.conf", park.folder+"\n"))))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	options := replay.Options{
		URL: "http://" + listener.Addr().String(), ForgeURL: startForge(t), InstanceToken: park.instanceToken, AnyDetails: true,
	}
	log := &logBuffer{}
	server, err := garm.New(t.Context(), garm.Options{Config: config, Listener: listener, Log: slog.New(slog.NewTextHandler(log, nil)), PasswordCost: bcrypt.MinCost})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("closing the server: %v", err)
		}
		if t.Failed() {
			t.Logf("the end of the server's log:\n%s", log)
		}
	})
	return options
}

// logBuffer keeps the last part of what the server logs.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const keptLog = 16 << 10

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.text.Write(p)
	if extra := b.text.Len() - keptLog; extra > 0 {
		b.text.Next(extra)
	}
	return n, err
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
