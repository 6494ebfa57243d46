package simrunner

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim/runnerapi"
)

// identity is what a runner's folder says about it.
type identity struct {
	settings    runnerapi.Settings
	credentials runnerapi.Credentials
}

func readIdentity(dir string) (identity, error) {
	var id identity
	if err := readJSON(filepath.Join(dir, ".runner"), &id.settings); err != nil {
		return identity{}, err
	}
	if err := readJSON(filepath.Join(dir, ".credentials"), &id.credentials); err != nil {
		return identity{}, err
	}
	// The simulator has no use for the key, but a real runner without it cannot connect.
	if _, err := os.Stat(filepath.Join(dir, ".credentials_rsaparams")); err != nil {
		return identity{}, fmt.Errorf("reading the runner's configuration: %w", err)
	}
	if id.settings.ServerURL == "" || id.credentials.Data.Token == "" {
		return identity{}, fmt.Errorf("the runner's configuration in %s names no server or has no credentials: configure it again", dir)
	}
	return id, nil
}

func readJSON(path string, dst any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the runner's configuration: %w", err)
	}
	if err := json.Unmarshal(data, dst); err != nil {
		return fmt.Errorf("reading the runner's configuration: %s is not the JSON that is due", path)
	}
	return nil
}

func writeFiles(dir string, files runnerapi.Files) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), content, 0o600); err != nil {
			return fmt.Errorf("writing the runner's configuration: %w", err)
		}
	}
	return nil
}
