package localprovider

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/BurntSushi/toml"
)

// Config is the provider's configuration file, TOML.
type Config struct {
	// StateDir is the absolute path of the folder that holds the machines. It is made if it is missing.
	StateDir string `toml:"state_dir"`
	// RunnerCommand is the bootstrap program garm-runner with its arguments, by absolute path.
	RunnerCommand []string `toml:"runner_command"`
	// AgentCommand stands for the GitHub runner: with the argument "configure" it registers by token, with "run" it runs.
	AgentCommand []string `toml:"agent_command"`
	// StopTimeout is how long a process has to end before it is killed. Default 10s.
	StopTimeout Duration `toml:"stop_timeout"`
}

// Duration is a time.Duration that is text in TOML, such as "10s".
type Duration time.Duration

// UnmarshalText reads a duration as Go writes it.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// MarshalText writes the duration as Go does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// ReadConfig reads and checks a configuration file. Errors name the key.
func ReadConfig(path string) (Config, error) {
	var c Config
	if path == "" {
		return Config{}, errors.New("the provider has no configuration file: set config_file of the provider at the server")
	}
	meta, err := toml.DecodeFile(path, &c)
	if err != nil {
		return Config{}, fmt.Errorf("configuration file %s: %w", path, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return Config{}, fmt.Errorf("configuration file %s: unknown key %s", path, unknown[0])
	}
	if c.StopTimeout == 0 {
		c.StopTimeout = Duration(10 * time.Second)
	}
	if err := c.check(); err != nil {
		return Config{}, fmt.Errorf("configuration file %s: %w", path, err)
	}
	return c, nil
}

func (c Config) check() error {
	switch {
	case !filepath.IsAbs(c.StateDir):
		return fmt.Errorf("state_dir is %q: give an absolute path", c.StateDir)
	case len(c.RunnerCommand) == 0 || !filepath.IsAbs(c.RunnerCommand[0]):
		return errors.New("runner_command: give a list that begins with an absolute path")
	case len(c.AgentCommand) == 0 || !filepath.IsAbs(c.AgentCommand[0]):
		return errors.New("agent_command: give a list that begins with an absolute path")
	case c.StopTimeout < 0:
		return errors.New("stop_timeout: give a duration that is not negative")
	}
	return nil
}
