package garmconfig

import "time"

// Config is a server's configuration file.
type Config struct {
	Default   Default    `toml:"default"`
	Logging   Logging    `toml:"logging"`
	Metrics   Metrics    `toml:"metrics"`
	JWTAuth   JWTAuth    `toml:"jwt_auth"`
	APIServer APIServer  `toml:"apiserver"`
	Database  Database   `toml:"database"`
	Providers []Provider `toml:"provider"`
	// GitHub entries belong to releases before v0.1.5, which moved them to the database. They are read and not used.
	GitHub []map[string]any `toml:"github"`
}

// Default seeds the controller URLs of a new database, and switches features.
type Default struct {
	// CallbackURL, MetadataURL and WebhookURL are copied into the database once, where it has none.
	CallbackURL string `toml:"callback_url"`
	MetadataURL string `toml:"metadata_url"`
	WebhookURL  string `toml:"webhook_url"`
	// EnableWebhookManagement adds the routes that install webhooks at the forge.
	EnableWebhookManagement bool `toml:"enable_webhook_management"`
	// DebugServer adds /debug/pprof/, for administrators only.
	DebugServer bool `toml:"debug_server"`
	// LogFile and EnableLogStreamer are old places of the settings of Logging.
	LogFile           string `toml:"log_file"`
	EnableLogStreamer *bool  `toml:"enable_log_streamer"`
}

// Logging says what is logged, and where.
type Logging struct {
	// LogFile is rotated; empty means standard output.
	LogFile string `toml:"log_file"`
	// EnableLogStreamer lets clients follow the log at /ws/logs.
	EnableLogStreamer *bool `toml:"enable_log_streamer"`
	// LogLevel is debug, info, warn or error; info by default.
	LogLevel string `toml:"log_level"`
	// LogFormat is text or json; text by default.
	LogFormat string `toml:"log_format"`
	LogSource bool   `toml:"log_source"`
}

// Metrics says whether /metrics is served.
type Metrics struct {
	Enable      bool `toml:"enable"`
	DisableAuth bool `toml:"disable_auth"`
	// Period is how often gauges are rebuilt; 60 s by default.
	Period Duration `toml:"period"`
}

// MinTokenLife is the shortest life of a user's token; shorter values are raised to it.
const MinTokenLife = 24 * time.Hour

// JWTAuth holds the key that signs tokens. Secret is a secret.
type JWTAuth struct {
	Secret     string   `toml:"secret"`
	TimeToLive Duration `toml:"time_to_live"`
}

// APIServer says where the server listens.
type APIServer struct {
	Bind        string   `toml:"bind"`
	Port        int      `toml:"port"`
	UseTLS      bool     `toml:"use_tls"`
	TLS         TLS      `toml:"tls"`
	CORSOrigins []string `toml:"cors_origins"`
	WebUI       WebUI    `toml:"webui"`
}

// TLS names PEM files.
type TLS struct {
	Certificate string `toml:"certificate"`
	Key         string `toml:"key"`
}

// WebUI is read for compatibility; this server has no web interface.
type WebUI struct {
	Enable bool `toml:"enable"`
}

// Database says where state is kept. Passphrase seals secrets and is one.
type Database struct {
	Backend    string  `toml:"backend"`
	Debug      bool    `toml:"debug"`
	Passphrase string  `toml:"passphrase"`
	SQLite     SQLite  `toml:"sqlite3"`
	MySQL      ignored `toml:"mysql"`
	PostgreSQL ignored `toml:"postgresql"`
}

// ignored is a section that is known but has no effect.
type ignored map[string]any

// SQLite is a database in a file.
type SQLite struct {
	DBFile string `toml:"db_file"`
	// BusyTimeoutSeconds is how long a write waits for another; 5 s by default.
	BusyTimeoutSeconds int `toml:"busy_timeout_seconds"`
}

// Provider is a way of making machines. Only external providers exist.
type Provider struct {
	Name             string   `toml:"name"`
	Type             string   `toml:"provider_type"`
	Description      string   `toml:"description"`
	DisableJITConfig bool     `toml:"disable_jit_config"`
	External         External `toml:"external"`
}

// External is a provider program. See the provider protocol in package garm/provider.
type External struct {
	ConfigFile string `toml:"config_file"`
	// Executable is the program; ProviderDir is the old way, a folder that holds garm-external-provider.
	Executable  string `toml:"provider_executable"`
	ProviderDir string `toml:"provider_dir"`
	// EnvironmentVariables are prefixes of the names of variables that the program inherits.
	EnvironmentVariables []string `toml:"environment_variables"`
	// InterfaceVersion is "", "v0.1.0" or "v0.1.1"; empty means v0.1.0.
	InterfaceVersion string `toml:"interface_version"`
	// ExecTimeoutSeconds bounds one run of the program; 0 means the pool's bootstrap timeout.
	ExecTimeoutSeconds int `toml:"exec_timeout_seconds"`
}

// LegacyProgram is the file name that ProviderDir must hold.
const LegacyProgram = "garm-external-provider"

// Duration is a time in Go's notation, such as "8760h".
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}
