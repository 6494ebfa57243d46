package embedded

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/garm/client"
	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/dev/freeport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func config(t *testing.T, dir string) operatorconfig.EmbeddedServer {
	t.Helper()
	address, err := freeport.Address(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return operatorconfig.EmbeddedServer{Enabled: true, DataDir: dir, ListenAddress: address}
}

func serverOn(t *testing.T, config operatorconfig.EmbeddedServer, adminGiven bool) *Server {
	t.Helper()
	s, err := New(Options{Config: config, AdminGiven: adminGiven, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask returns what the server says of itself, with the administrator that the client makes where there is none.
func ask(ctx context.Context, s *Server, password func(context.Context) (string, error)) (garm.ControllerInfo, error) {
	c, err := client.New(client.Config{BaseURL: URL, Username: "admin", Password: password, Init: true, Email: "a@example.com", Transport: s.Transport()})
	if err != nil {
		return garm.ControllerInfo{}, err
	}
	return c.GetController(ctx)
}

func get(t *testing.T, s *Server, path string) int {
	t.Helper()
	res, err := (&http.Client{Transport: s.Transport()}).Get(URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

// What a server is stays in its data directory: it is the same one after a restart, and its secrets are for its user alone.
func TestDataDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	var ids []string
	for range 2 {
		s := serverOn(t, config(t, dir), false)
		if _, err := ask(t.Context(), s, s.Password); err == nil {
			t.Error("a server that does not run answers")
		}
		err := s.Run(t.Context(), func(ctx context.Context) error {
			info, err := ask(ctx, s, s.Password)
			ids = append(ids, info.ControllerID)
			if status := get(t, s, "/metrics"); status != http.StatusUnauthorized {
				t.Errorf("metrics without a token: status %d", status)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if ids[0] == "" || ids[0] != ids[1] {
		t.Errorf("controller ids %q", ids)
	}
	for _, name := range []string{databaseFile, passphraseFile, tokenKeyFile, passwordFile, lockFile} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
}

// A secret that is lost is asked for; it is not replaced by another one that opens nothing.
func TestLostSecrets(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		given bool
		want  string
	}{
		"passphrase":          {file: passphraseFile, want: "restore the file"},
		"password":            {file: passwordFile, want: "--garm-password-file"},
		"password, but given": {file: passwordFile, given: true},
		"token key":           {file: tokenKeyFile},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var password string
			s := serverOn(t, config(t, dir), false)
			err := s.Run(t.Context(), func(ctx context.Context) (err error) {
				if _, err = ask(ctx, s, s.Password); err == nil {
					password, err = s.Password(ctx)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, c.file)); err != nil {
				t.Fatal(err)
			}
			s = serverOn(t, config(t, dir), c.given)
			err = s.Run(t.Context(), func(ctx context.Context) error {
				_, err := ask(ctx, s, client.Password(password))
				return err
			})
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.file) {
				t.Errorf("error %v, want one with %q and %q", err, c.file, c.want)
			}
		})
	}
}

// A server that breaks down ends its use, and says why.
func TestDuring(t *testing.T) {
	failed := make(chan error, 1)
	failed <- errors.New("disk full")
	err := during(t.Context(), failed, func(ctx context.Context) error {
		<-ctx.Done()
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("error %v", err)
	}
	used := errors.New("refused")
	if err := during(t.Context(), make(chan error), func(context.Context) error { return used }); !errors.Is(err, used) {
		t.Errorf("error %v", err)
	}
}

func TestBadStarts(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*operatorconfig.EmbeddedServer)
		want   string
	}{
		"address taken": {func(c *operatorconfig.EmbeddedServer) { c.ListenAddress = taken.Addr().String() }, "embeddedServer.listenAddress"},
		"no directory":  {func(c *operatorconfig.EmbeddedServer) { c.DataDir = file }, "data directory"},
	} {
		t.Run(name, func(t *testing.T) {
			config := config(t, t.TempDir())
			c.change(&config)
			err := serverOn(t, config, false).Run(t.Context(), func(context.Context) error { return nil })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	_, err = New(Options{Config: operatorconfig.EmbeddedServer{ProvidersFile: "/absent/providers.toml"}, Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "/absent/providers.toml") {
		t.Errorf("error %v", err)
	}
}
