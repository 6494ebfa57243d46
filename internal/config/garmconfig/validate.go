package garmconfig

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trustelem/zxcvbn"
)

// strongScore is the zxcvbn score that secrets must reach.
const strongScore = 4

// faults collects what is wrong, each with its key.
type faults []error

func (f *faults) add(bad bool, key, format string, args ...any) {
	if bad {
		*f = append(*f, fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...)))
	}
}

// Validate returns every fault of the configuration, each with its key and what is expected. No text holds a secret.
func (c *Config) Validate() error {
	var f faults
	for key, value := range map[string]string{
		"default.callback_url": c.Default.CallbackURL, "default.metadata_url": c.Default.MetadataURL, "default.webhook_url": c.Default.WebhookURL,
	} {
		u, err := url.Parse(value)
		f.add(value != "" && (err != nil || u.Scheme == "" || u.Host == ""), key, "must be a URL with scheme and host")
	}
	f.add(!slices.Contains([]string{"debug", "info", "warn", "error"}, c.Logging.LogLevel), "logging.log_level", "must be debug, info, warn or error")
	f.add(!slices.Contains([]string{"text", "json"}, c.Logging.LogFormat), "logging.log_format", "must be text or json")
	f.add(c.Metrics.Period < 0, "metrics.period", "must be longer than 0")
	f.add(zxcvbn.PasswordStrength(c.JWTAuth.Secret, nil).Score < strongScore, "jwt_auth.secret", "is missing or too easy to guess; take a long random text")
	f.add(c.JWTAuth.TimeToLive <= 0, "jwt_auth.time_to_live", "must be a duration such as 8760h")
	c.validateAPIServer(&f)
	c.validateDatabase(&f)
	c.validateProviders(&f)
	slices.SortFunc(f, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(f...)
}

func (c *Config) validateAPIServer(f *faults) {
	a := c.APIServer
	f.add(net.ParseIP(a.Bind) == nil, "apiserver.bind", "must be an IP address such as 0.0.0.0")
	f.add(a.Port < 1 || a.Port > 65535, "apiserver.port", "must be from 1 to 65535")
	if a.UseTLS {
		_, err := tls.LoadX509KeyPair(a.TLS.Certificate, a.TLS.Key)
		f.add(err != nil, "apiserver.tls", "certificate and key must be files of one PEM pair: %v", err)
	}
}

func (c *Config) validateDatabase(f *faults) {
	d := c.Database
	f.add(d.Backend != "sqlite3", "database.backend", "must be sqlite3, the only backend of this server")
	f.add(len(d.Passphrase) != 32, "database.passphrase", "must have exactly 32 characters")
	f.add(len(d.Passphrase) == 32 && zxcvbn.PasswordStrength(d.Passphrase, nil).Score < strongScore, "database.passphrase", "is too easy to guess; take a random text")
	f.add(!filepath.IsAbs(d.SQLite.DBFile), "database.sqlite3.db_file", "must be an absolute path")
	if filepath.IsAbs(d.SQLite.DBFile) {
		info, err := os.Stat(filepath.Dir(d.SQLite.DBFile))
		f.add(err != nil || !info.IsDir(), "database.sqlite3.db_file", "must lie in a folder that exists")
	}
	f.add(d.SQLite.BusyTimeoutSeconds < 0, "database.sqlite3.busy_timeout_seconds", "must not be negative")
}

func (c *Config) validateProviders(f *faults) {
	seen := map[string]bool{}
	for i, p := range c.Providers {
		key := fmt.Sprintf("provider %d", i+1)
		if p.Name != "" {
			key = "provider " + p.Name
		}
		f.add(p.Name == "", key, "name is required")
		f.add(p.Name != "" && seen[p.Name], key, "name is taken by another provider")
		seen[p.Name] = true
		f.add(p.Type != "external", key, "provider_type must be external")
		p.External.validate(f, key+": external")
	}
}

func (e External) validate(f *faults, key string) {
	if e.ConfigFile != "" {
		_, err := os.Stat(e.ConfigFile)
		f.add(!filepath.IsAbs(e.ConfigFile) || err != nil, key+".config_file", "must be the absolute path of a file that exists")
	}
	program, programKey := e.Program(), key+".provider_executable"
	if e.Executable == "" && e.ProviderDir != "" {
		programKey = key + ".provider_dir"
	}
	info, err := os.Stat(program)
	f.add(!filepath.IsAbs(program) || err != nil || info.IsDir() || info.Mode()&0o111 == 0, programKey, "must lead to an executable file by an absolute path")
	f.add(!slices.Contains([]string{"", "v0.1.0", "v0.1.1"}, e.InterfaceVersion), key+".interface_version", `must be "", v0.1.0 or v0.1.1`)
	f.add(e.ExecTimeoutSeconds < 0, key+".exec_timeout_seconds", "must not be negative")
}

// Program is the path of the executable, by the new way or the old one.
func (e External) Program() string {
	if e.Executable != "" {
		return e.Executable
	}
	if e.ProviderDir != "" {
		return filepath.Join(e.ProviderDir, LegacyProgram)
	}
	return ""
}
