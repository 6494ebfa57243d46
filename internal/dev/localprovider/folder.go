package localprovider

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/garm-operator/garm-operator/garm/provider"
)

// idPrefix makes the provider's ids differ from the names, as those of real providers do.
const idPrefix = "local-"

// record is what a machine is; the file instance.json.
type record struct {
	Name         string `json:"name"`
	ControllerID string `json:"controller_id"`
	PoolID       string `json:"pool_id"`
	OSType       string `json:"os_type"`
	OSArch       string `json:"os_arch"`
	Fault        Fault  `json:"fault,omitempty"`
}

// folder is the folder of a machine.
type folder string

func (f folder) path(name string) string { return filepath.Join(string(f), name) }

// machineName is what a name has to look like to be that of a folder; it also cannot begin with a dot.
var machineName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

func (p *Local) folderOf(name string) (folder, error) {
	if !machineName.MatchString(name) {
		return "", fmt.Errorf("instance name %.200q: only letters, digits, dots, dashes and underscores are possible, at most 128, the first a letter or digit", name)
	}
	return folder(filepath.Join(p.config.StateDir, name)), nil
}

// record reads what the machine is. A folder without it is one whose making or removal was cut short: ErrNotFound.
func (f folder) record() (record, error) {
	var r record
	data, err := os.ReadFile(f.path("instance.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, provider.ErrNotFound
	}
	if err != nil {
		return record{}, fmt.Errorf("reading the state of a machine: %w", err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return record{}, fmt.Errorf("reading the state of a machine: %w", err)
	}
	return r, nil
}

// write keeps a file whole or not at all, readable by the owner alone.
func (f folder) write(name string, content []byte) error {
	draft := f.path("." + name)
	if err := os.WriteFile(draft, content, 0o600); err != nil {
		return fmt.Errorf("writing the state of a machine: %w", err)
	}
	if err := os.Rename(draft, f.path(name)); err != nil {
		return fmt.Errorf("writing the state of a machine: %w", err)
	}
	return nil
}

// fill writes everything that the process of a new machine needs, and the record last.
func (f folder) fill(r record, b provider.BootstrapInstance) error {
	if err := os.RemoveAll(string(f)); err != nil {
		return fmt.Errorf("clearing the folder of a machine: %w", err)
	}
	if err := os.MkdirAll(f.path("home"), 0o700); err != nil {
		return fmt.Errorf("making the folder of a machine: %w", err)
	}
	bootstrap, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("encoding the bootstrap data: %w", err)
	}
	encoded, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding the state of a machine: %w", err)
	}
	files := []struct {
		name    string
		content []byte
	}{
		{"bootstrap.json", bootstrap}, {"token", []byte(b.InstanceToken)}, {"ca.pem", b.CACertBundle}, {"instance.json", encoded},
	}
	for _, file := range files {
		if err := f.write(file.name, file.content); err != nil {
			return err
		}
	}
	return nil
}

// bootstrap reads back what GARM said about the machine.
func (f folder) bootstrap() (provider.BootstrapInstance, error) {
	data, err := os.ReadFile(f.path("bootstrap.json"))
	if err != nil {
		return provider.BootstrapInstance{}, fmt.Errorf("reading the bootstrap data of a machine: %w", err)
	}
	return provider.DecodeBootstrap(data)
}

// find is the folder of a machine of this controller, by name or id.
func (p *Local) find(id string) (folder, record, error) {
	for _, name := range []string{id, strings.TrimPrefix(id, idPrefix)} {
		f, err := p.folderOf(name)
		if err != nil {
			return "", record{}, err
		}
		r, err := f.record()
		if err == nil && r.ControllerID == p.controllerID {
			return f, r, nil
		}
		if err != nil && !errors.Is(err, provider.ErrNotFound) {
			return "", record{}, err
		}
	}
	return "", record{}, fmt.Errorf("%w: %s", provider.ErrNotFound, id)
}

// all are the machines of this controller.
func (p *Local) all() (map[folder]record, error) {
	entries, err := os.ReadDir(p.config.StateDir)
	if err != nil {
		return nil, fmt.Errorf("reading the state folder: %w", err)
	}
	found := map[folder]record{}
	for _, entry := range entries {
		if !entry.IsDir() || !machineName.MatchString(entry.Name()) {
			continue
		}
		f := folder(filepath.Join(p.config.StateDir, entry.Name()))
		r, err := f.record()
		switch {
		case errors.Is(err, provider.ErrNotFound):
			continue
		case err != nil:
			return nil, err
		case r.ControllerID == p.controllerID:
			found[f] = r
		}
	}
	return found, nil
}
