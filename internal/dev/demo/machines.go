package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/BurntSushi/toml"

	"github.com/garm-operator/garm-operator/garm/provider"
	"github.com/garm-operator/garm-operator/internal/dev/localprovider"
)

func (w *world) providerConfig() string { return filepath.Join(w.dir, "provider.toml") }

// writeProviderConfig tells the provider where its machines live and what runs on them.
func (w *world) writeProviderConfig() error {
	file, err := os.Create(w.providerConfig())
	if err != nil {
		return fmt.Errorf("making the provider's configuration: %w", err)
	}
	defer func() { _ = file.Close() }()
	return toml.NewEncoder(file).Encode(localprovider.Config{
		StateDir:      filepath.Join(w.dir, "machines"),
		RunnerCommand: []string{filepath.Join(w.options.BinDir, "garm-runner")},
		AgentCommand:  []string{filepath.Join(w.options.BinDir, "garm-dev"), "runner"},
	})
}

// removeMachines ends all runners that are left, as the provider does when GARM asks for it.
func (w *world) removeMachines() error {
	if w.controllerID == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), w.options.StepTimeout)
	defer cancel()
	machines, err := localprovider.Open(provider.Call{
		Command: provider.RemoveAllInstances, ControllerID: w.controllerID, ConfigFile: w.providerConfig(),
	})
	if err != nil {
		return fmt.Errorf("removing the runners: %w", err)
	}
	return machines.RemoveAllInstances(ctx)
}
