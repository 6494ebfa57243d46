package garmconfig

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/garm-operator/garm-operator/internal/weburl"
)

// DefaultPath is where the server looks for its configuration.
const DefaultPath = "/etc/garm/config.toml"

// Load reads and validates a configuration file. The warnings name keys that are unknown or have no effect; they hold
// no values. The error joins all faults.
func Load(path string) (*Config, []string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the configuration: %w", err)
	}
	config, warnings, err := Parse(string(data))
	if err != nil {
		return nil, warnings, fmt.Errorf("configuration %s: %w", path, err)
	}
	return config, warnings, nil
}

// Parse is Load for the text of a file.
func Parse(text string) (*Config, []string, error) {
	config := &Config{}
	meta, err := toml.Decode(text, config)
	if err != nil {
		return nil, nil, decodeError(err)
	}
	var warnings []string
	for _, key := range meta.Undecoded() {
		warnings = append(warnings, fmt.Sprintf("the key %s is unknown and is ignored", key))
	}
	if len(config.GitHub) > 0 {
		warnings = append(warnings, "the section github has no effect; add credentials through the API")
	}
	if config.APIServer.WebUI.Enable {
		warnings = append(warnings, "apiserver.webui.enable has no effect; this server has no web interface")
	}
	for _, u := range []struct{ key, value string }{
		{"callback_url", config.Default.CallbackURL}, {"metadata_url", config.Default.MetadataURL}, {"webhook_url", config.Default.WebhookURL},
	} {
		if weburl.HasLogin(u.value) {
			warnings = append(warnings, fmt.Sprintf("default.%s holds a user or password, which runners, GitHub and whoever uses the API can read; leave it out", u.key))
		}
	}
	config.SetDefaults()
	return config, warnings, config.Validate()
}

// decodeError keeps the position of a fault and leaves out the line itself, which may hold a secret.
func decodeError(err error) error {
	var parse toml.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("line %d, key %q: %s", parse.Position.Line, parse.LastKey, parse.Message)
	}
	return err
}

// SetDefaults fills what is not set, as Parse does.
func (c *Config) SetDefaults() {
	def := func(s *string, value string) {
		if *s == "" {
			*s = value
		}
	}
	def(&c.Logging.LogFile, c.Default.LogFile)
	def(&c.Logging.LogLevel, "info")
	def(&c.Logging.LogFormat, "text")
	if c.Logging.EnableLogStreamer == nil {
		c.Logging.EnableLogStreamer = c.Default.EnableLogStreamer
	}
	if c.Metrics.Period == 0 {
		c.Metrics.Period = Duration(time.Minute)
	}
	if c.Database.SQLite.BusyTimeoutSeconds == 0 {
		c.Database.SQLite.BusyTimeoutSeconds = 5
	}
	if ttl := time.Duration(c.JWTAuth.TimeToLive); ttl > 0 && ttl < MinTokenLife {
		c.JWTAuth.TimeToLive = Duration(MinTokenLife)
	}
}

// LogStreamer says whether clients may follow the log.
func (c *Config) LogStreamer() bool {
	return c.Logging.EnableLogStreamer != nil && *c.Logging.EnableLogStreamer
}
