package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/garm-operator/garm-operator/garm/provider"
	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// External is one configured provider.
type External struct {
	config  Config
	path    string
	environ []string
	running *semaphore.Weighted
}

var _ fleet.Provider = (*External)(nil)

// New checks a configuration and returns its provider. environ is as for NewSet.
func New(c Config, environ []string) (*External, error) {
	if c.Version == "" {
		c.Version = provider.Version010
	}
	if !slices.Contains(provider.Versions(), c.Version) {
		return nil, fmt.Errorf("interface_version %q is not one of %q", c.Version, provider.Versions())
	}
	if c.Concurrency <= 0 {
		c.Concurrency = DefaultConcurrency
	}
	path, err := c.program()
	if err != nil {
		return nil, err
	}
	return &External{
		config: c, path: path, environ: inherited(environ, c.Environment),
		running: semaphore.NewWeighted(int64(c.Concurrency)),
	}, nil
}

// Name is the provider's name, Description what its owner says of it.
func (p *External) Name() string { return p.config.Name }

// Description is what the configuration says of the provider.
func (p *External) Description() string { return p.config.Description }

// DisablesJIT implements fleet.Provider.
func (p *External) DisablesJIT() bool { return p.config.DisableJIT }

// Create implements fleet.Provider.
func (p *External) Create(ctx context.Context, pool model.Pool, b fleet.Bootstrap) (fleet.Machine, error) {
	input, err := json.Marshal(bootstrap(pool, b))
	if err != nil {
		return fleet.Machine{}, fmt.Errorf("encoding bootstrap data: %w", err)
	}
	secrets := []string{b.Token}
	for _, t := range b.Tools {
		secrets = append(secrets, t.TempToken)
	}
	answer, err := p.run(ctx, pool, p.call(provider.CreateInstance, pool, ""), input, secrets)
	if err != nil {
		return fleet.Machine{}, err
	}
	made, err := provider.DecodeInstance(answer)
	if err == nil {
		return machine(made), nil
	}
	// What an invalid answer names is of use all the same: the machine may exist.
	var named struct {
		ProviderID string `json:"provider_id"`
	}
	_ = json.Unmarshal(answer, &named)
	failed := badAnswer(provider.CreateInstance, errors.New(scrub(err.Error(), secrets)))
	failed.ProviderID = limit(named.ProviderID, maxID)
	return fleet.Machine{}, failed
}

// Delete implements fleet.Provider.
func (p *External) Delete(ctx context.Context, pool model.Pool, id string) error {
	_, err := p.run(ctx, pool, p.call(provider.DeleteInstance, pool, id), nil, nil)
	var failed *fleet.ProviderError
	if errors.As(err, &failed) && failed.Kind == fleet.ProviderNotFound {
		return nil
	}
	return err
}

// List implements fleet.Provider.
func (p *External) List(ctx context.Context, pool model.Pool) ([]fleet.Machine, error) {
	answer, err := p.run(ctx, pool, p.call(provider.ListInstances, pool, ""), nil, nil)
	if err != nil {
		return nil, err
	}
	list, err := provider.DecodeInstances(answer)
	if err != nil {
		return nil, badAnswer(provider.ListInstances, err)
	}
	out := make([]fleet.Machine, len(list))
	for i, m := range list {
		out[i] = machine(m)
	}
	return out, nil
}

func (p *External) call(command provider.Command, pool model.Pool, id string) provider.Call {
	return provider.Call{
		Command: command, Version: p.config.Version, ControllerID: string(p.config.Controller), ConfigFile: p.config.ConfigFile,
		PoolID: string(pool.ID), InstanceID: id, ExtraSpecs: pool.ExtraSpecs,
	}
}

// timeout is how long one run may take.
func (p *External) timeout(pool model.Pool) time.Duration {
	most := pool.BootstrapTimeout
	if most <= 0 {
		most = model.DefaultBootstrapTimeout
	}
	if p.config.Timeout > 0 {
		return min(p.config.Timeout, most)
	}
	return most
}

func badAnswer(command provider.Command, err error) *fleet.ProviderError {
	return &fleet.ProviderError{Kind: fleet.ProviderBadAnswer, Op: string(command), Fault: err.Error(), Err: provider.ErrBadAnswer}
}
