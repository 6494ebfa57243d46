package demo

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net"
	"os"
	"path/filepath"
	"text/template"

	"github.com/garm-operator/garm-operator/garm/client"
	"github.com/garm-operator/garm-operator/internal/dev/freeport"
)

const (
	adminUser   = "admin"
	adminEmail  = "admin@example.com"
	githubToken = "ghp_quickstart"
)

// garmTOML is the configuration of the GARM server.
var garmTOML = template.Must(template.New("garm.toml").Parse(`[logging]
enable_log_streamer = true
[metrics]
enable = true
[jwt_auth]
secret = "{{.Secret}}"
time_to_live = "24h"
[apiserver]
bind = "{{.Host}}"
port = {{.Port}}
[database]
backend = "sqlite3"
passphrase = "{{.Passphrase}}"
[database.sqlite3]
db_file = "{{.Dir}}/garm.db"
`))

// providersTOML says how machines are made.
var providersTOML = template.Must(template.New("providers.toml").Parse(`[[provider]]
name = "local"
provider_type = "external"
description = "runners as local processes"
[provider.external]
config_file = "{{.ProviderConfig}}"
provider_executable = "{{.Provider}}"
interface_version = "v0.1.1"
`))

func (w *world) startGARM(ctx context.Context) (string, error) {
	address, err := freeport.Address(ctx)
	if err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	w.garmURL = "http://" + address
	w.password = randomText()
	if err := os.WriteFile(w.passwordFile(), []byte(w.password), 0o600); err != nil {
		return "", err
	}
	if err := w.writeProviderConfig(); err != nil {
		return "", err
	}
	path := filepath.Join(w.dir, "garm.toml")
	err = w.writeConfig(path, map[string]string{"Secret": randomText(), "Host": host, "Port": port, "Passphrase": randomText()[:32], "Dir": w.dir}, garmTOML, providersTOML)
	if err != nil {
		return "", err
	}
	if w.garm, err = w.startProgram("garm", "-config", path); err != nil {
		return "", err
	}
	if err := w.garm.waitHTTP(ctx, w.garmURL+"/api/v1/controller-info", func(int) bool { return true }); err != nil {
		return "", err
	}
	w.session, err = client.New(client.Config{BaseURL: w.garmURL, Username: adminUser, Password: client.Password(w.password)})
	return w.garmURL, err
}

// writeConfig writes a configuration that may hold secrets.
func (w *world) writeConfig(path string, values map[string]string, parts ...*template.Template) error {
	values["ProviderConfig"], values["Provider"] = w.providerConfig(), filepath.Join(w.options.BinDir, "garm-dev")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for _, part := range parts {
		err = errors.Join(err, part.Execute(file, values))
	}
	return errors.Join(err, file.Close())
}

// randomText returns 40 characters that nobody can guess.
func randomText() string {
	bytes := make([]byte, 30)
	_, _ = rand.Read(bytes) // never fails
	return base64.RawURLEncoding.EncodeToString(bytes)
}
