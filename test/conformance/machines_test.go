package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/garm-operator/garm-operator/garm/provider"
)

// machines is an external provider whose machines are files: what a server gave for one is kept as <name>.json, so that
// a test can play the runner.
type machines struct {
	folder string
	input  []byte
}

// brokenFlavor is the flavor of pools for which no machine can be made.
const brokenFlavor = "broken"

// serveMachines runs one call. The configuration file holds one line: the folder.
func serveMachines(getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	input := []byte{}
	if getenv("GARM_COMMAND") == string(provider.CreateInstance) {
		var err error
		if input, err = io.ReadAll(stdin); err != nil {
			fmt.Fprintln(stderr, err)
			return provider.ExitFailure
		}
	}
	return provider.Serve(context.Background(), getenv, bytes.NewReader(input), stdout, stderr, func(call provider.Call) (provider.Provider, error) {
		config, err := os.ReadFile(call.ConfigFile)
		if err != nil {
			return nil, fmt.Errorf("reading the configuration: %w", err)
		}
		return machines{folder: strings.TrimSpace(string(config)), input: input}, nil
	})
}

const machineID = "vm-"

func (m machines) file(name string) string {
	return filepath.Join(m.folder, strings.TrimPrefix(name, machineID)+".json")
}

func (m machines) machine(name string) provider.Instance {
	name = strings.TrimPrefix(name, machineID)
	return provider.Instance{
		ProviderID: machineID + name, Name: name, OSType: "linux", OSName: "ubuntu", OSVersion: "24.04", OSArch: "amd64", Status: provider.StatusRunning,
		Addresses: []provider.Address{{Address: "192.0.2.10", Type: "private"}},
	}
}

func (m machines) CreateInstance(_ context.Context, b provider.BootstrapInstance) (provider.Instance, error) {
	if b.Flavor == brokenFlavor {
		return provider.Instance{}, errors.New("no capacity for flavor " + brokenFlavor)
	}
	if err := os.WriteFile(m.file(b.Name), m.input, 0o600); err != nil {
		return provider.Instance{}, fmt.Errorf("making a machine: %w", err)
	}
	return m.machine(b.Name), nil
}

func (m machines) DeleteInstance(_ context.Context, id string) error {
	err := os.Rename(m.file(id), m.file(id)+".deleted")
	if errors.Is(err, fs.ErrNotExist) {
		return provider.ErrNotFound
	}
	return err
}

func (m machines) GetInstance(_ context.Context, id string) (provider.Instance, error) {
	if _, err := os.Stat(m.file(id)); err != nil {
		return provider.Instance{}, provider.ErrNotFound
	}
	return m.machine(id), nil
}

func (m machines) ListInstances(_ context.Context, poolID string) ([]provider.Instance, error) {
	files, err := filepath.Glob(filepath.Join(m.folder, "*.json"))
	if err != nil {
		return nil, err
	}
	var list []provider.Instance
	for _, file := range files {
		var given struct {
			PoolID string `json:"pool_id"`
		}
		if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &given) == nil && given.PoolID == poolID {
			list = append(list, m.machine(strings.TrimSuffix(filepath.Base(file), ".json")))
		}
	}
	return list, nil
}

func (machines) StartInstance(context.Context, string) error { return nil }

func (machines) StopInstance(context.Context, string) error { return nil }

func (machines) RemoveAllInstances(context.Context) error { return nil }

func (machines) Version() string { return "v0.1.0" }

// instanceToken is the token that a server gave for a machine, also for one that is gone.
func (m machines) instanceToken(name string) (string, error) {
	for _, file := range []string{m.file(name), m.file(name) + ".deleted"} {
		var given struct {
			Token string `json:"instance-token"`
		}
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		err = json.Unmarshal(data, &given)
		return given.Token, err
	}
	return "", fmt.Errorf("the provider has never heard of %s", name)
}
