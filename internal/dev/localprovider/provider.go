package localprovider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/garm-operator/garm-operator/garm/provider"
)

// Version is the version of the provider.
const Version = "v0.1.0"

// removals is how many machines RemoveAllInstances removes at a time.
const removals = 8

// Local is the provider.
type Local struct {
	config       Config
	controllerID string
}

// Main runs the call that the environment describes and returns the exit code of the program.
func Main(ctx context.Context, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	return provider.Serve(ctx, getenv, stdin, stdout, stderr, Open)
}

// Open makes the provider of a call.
func Open(call provider.Call) (provider.Provider, error) {
	if call.Command == provider.GetVersion || call.Command == provider.GetSupportedInterfaceVersions {
		return &Local{}, nil // works without a configuration
	}
	config, err := ReadConfig(call.ConfigFile)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(config.StateDir, 0o700); err != nil {
		return nil, fmt.Errorf("making the state folder: %w", err)
	}
	return &Local{config: config, controllerID: call.ControllerID}, nil
}

// Version implements provider.Provider.
func (p *Local) Version() string { return Version }

// CreateInstance makes a folder and starts the process. Called again for the same name, pool and controller it answers
// about the machine that is there.
func (p *Local) CreateInstance(ctx context.Context, b provider.BootstrapInstance) (provider.Instance, error) {
	w, err := readWish(b.Flavor, b.ExtraSpecs)
	if err != nil {
		return provider.Instance{}, err
	}
	f, err := p.folderOf(b.Name)
	if err != nil {
		return provider.Instance{}, err
	}
	if err := w.before(ctx, b.Flavor); err != nil {
		return provider.Instance{}, err
	}
	unlock, err := p.lock(ctx, b.Name)
	if err != nil {
		return provider.Instance{}, err
	}
	defer unlock()
	made, err := f.record()
	switch {
	case errors.Is(err, provider.ErrNotFound):
		made = record{Name: b.Name, ControllerID: p.controllerID, PoolID: b.PoolID, OSType: b.OSType, OSArch: b.OSArch, Fault: w.fault}
		if err := f.fill(made, b); err != nil {
			return provider.Instance{}, err
		}
	case err != nil:
		return provider.Instance{}, err
	case made.ControllerID != p.controllerID || made.PoolID != b.PoolID:
		return provider.Instance{}, fmt.Errorf("%w: %s, of another pool or controller", provider.ErrDuplicate, b.Name)
	}
	started, err := f.started()
	if err == nil && !started {
		err = f.start(ctx, p.config, b)
	}
	if err != nil {
		return provider.Instance{}, err
	}
	answer, err := p.answer(f, made)
	return w.spoil(answer), err
}

// DeleteInstance ends the process and removes the folder.
func (p *Local) DeleteInstance(ctx context.Context, id string) error {
	return p.locked(ctx, id, func(f folder, r record) error {
		if r.Fault == FaultDelete {
			return errors.New("the machine refuses to go, as its pool asked")
		}
		if err := f.stop(ctx, time.Duration(p.config.StopTimeout)); err != nil {
			return err
		}
		if err := os.RemoveAll(string(f)); err != nil {
			return fmt.Errorf("removing the folder of a machine: %w", err)
		}
		return nil
	})
}

// GetInstance answers about one machine.
func (p *Local) GetInstance(_ context.Context, id string) (provider.Instance, error) {
	f, r, err := p.find(id)
	if err != nil {
		return provider.Instance{}, err
	}
	return p.answer(f, r)
}

// ListInstances answers about the machines of a pool, by name.
func (p *Local) ListInstances(_ context.Context, poolID string) ([]provider.Instance, error) {
	all, err := p.all()
	if err != nil {
		return nil, err
	}
	list := []provider.Instance{}
	for f, r := range all {
		if r.PoolID != poolID {
			continue
		}
		answer, err := p.answer(f, r)
		if err != nil {
			return nil, err
		}
		list = append(list, answer)
	}
	slices.SortFunc(list, func(a, b provider.Instance) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// StartInstance starts the process again, unless it runs.
func (p *Local) StartInstance(ctx context.Context, id string) error {
	return p.locked(ctx, id, func(f folder, _ record) error {
		alive, err := f.alive()
		if err != nil || alive {
			return err
		}
		b, err := f.bootstrap()
		if err != nil {
			return err
		}
		return f.start(ctx, p.config, b)
	})
}

// StopInstance ends the process and keeps the folder.
func (p *Local) StopInstance(ctx context.Context, id string) error {
	return p.locked(ctx, id, func(f folder, _ record) error { return f.stop(ctx, time.Duration(p.config.StopTimeout)) })
}

// RemoveAllInstances removes every machine of the controller. One that does not go does not keep the others.
func (p *Local) RemoveAllInstances(ctx context.Context) error {
	all, err := p.all()
	if err != nil {
		return err
	}
	names := make([]string, 0, len(all))
	for _, r := range all {
		names = append(names, r.Name)
	}
	var group errgroup.Group
	group.SetLimit(removals)
	failures := make([]error, len(names))
	for i, name := range names {
		group.Go(func() error {
			// One that is gone was removed by somebody else.
			if err := p.DeleteInstance(ctx, name); err != nil && !errors.Is(err, provider.ErrNotFound) {
				failures[i] = fmt.Errorf("removing %s: %w", name, err)
			}
			return nil
		})
	}
	_ = group.Wait()
	return errors.Join(failures...)
}

// locked runs do on a machine while no other call can change it.
func (p *Local) locked(ctx context.Context, id string, do func(folder, record) error) error {
	_, r, err := p.find(id)
	if err != nil {
		return err
	}
	unlock, err := p.lock(ctx, r.Name)
	if err != nil {
		return err
	}
	defer unlock()
	f, r, err := p.find(r.Name) // it may have gone while we waited
	if err != nil {
		return err
	}
	return do(f, r)
}

func (p *Local) answer(f folder, r record) (provider.Instance, error) {
	alive, err := f.alive()
	if err != nil {
		return provider.Instance{}, err
	}
	status := provider.StatusStopped
	if alive {
		status = provider.StatusRunning
	}
	return provider.Instance{
		ProviderID: idPrefix + r.Name, Name: r.Name, OSType: r.OSType, OSArch: r.OSArch, OSName: runtime.GOOS,
		Addresses: []provider.Address{{Address: "127.0.0.1", Type: "private"}}, Status: status,
	}, nil
}
