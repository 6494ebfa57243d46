package garm

import (
	"context"
	"fmt"
	"os"
	"time"

	protocol "github.com/garm-operator/garm-operator/garm/provider"
	"github.com/garm-operator/garm-operator/internal/server/auth"
	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/forge/github"
	"github.com/garm-operator/garm-operator/internal/server/metrics"
	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/provider"
	"github.com/garm-operator/garm-operator/internal/server/service"
)

// parts are what the fleet engine gives to the rest of the server.
type parts struct {
	engine   *fleet.Engine
	forges   forges
	counters *metrics.Counters
	close    func()
}

// fleet puts the engine together with the forge and the configured providers.
func (s *Server) fleet(ctx context.Context, o Options, tokens *auth.Tokens) (parts, error) {
	controller, err := s.store.Controller(ctx)
	if err != nil {
		return parts{}, fmt.Errorf("reading the controller: %w", err)
	}
	counters := metrics.NewCounters()
	var configs []provider.Config
	for _, p := range o.Config.Providers {
		configs = append(configs, provider.Config{
			Name: p.Name, Executable: p.External.Executable, Dir: p.External.ProviderDir, ConfigFile: p.External.ConfigFile,
			Environment: p.External.EnvironmentVariables, Version: protocol.Version(p.External.InterfaceVersion), DisableJIT: p.DisableJITConfig,
			Observe: func(operation string, err error) { counters.Provider(operation, p.Name, err) },
			Timeout: time.Duration(p.External.ExecTimeoutSeconds) * time.Second, Controller: controller.ID,
		})
	}
	providers, err := provider.NewSet(configs, os.Environ())
	if err != nil {
		return parts{}, err
	}
	hub := github.New(github.Options{Secrets: s.store, UserAgent: "garm/" + o.Version, Transport: o.Forge})
	counted := metrics.Forges{Forges: hub, Counters: counters}
	engine := fleet.New(fleet.Options{Store: s.store, Forges: counted, Providers: providers, Tokens: tokens, Logger: s.log, Limits: o.Limits})
	return parts{engine, forges{counted, hub}, counters, hub.Close}, nil
}

// forges answers the use cases by the engine's forges.
type forges struct {
	metrics.Forges
	github *github.Forges
}

// RegistrationToken implements service.Forges.
func (f forges) RegistrationToken(ctx context.Context, entity model.Entity) (string, time.Time, error) {
	forge, err := f.Forge(ctx, entity)
	if err != nil {
		return "", time.Time{}, err
	}
	return forge.RegistrationToken(ctx)
}

// Webhooks implements service.Forges.
func (f forges) Webhooks(ctx context.Context, entity model.Entity) (service.Webhooks, error) {
	made, err := f.github.Webhooks(ctx, entity)
	return metrics.Webhooks{Webhooks: made, Counters: f.Counters, Kind: entity.Kind}, err
}

// Tools implements service.Forges.
func (f forges) Tools(ctx context.Context, entity model.Entity) (string, []service.Tool, error) {
	forge, err := f.Forge(ctx, entity)
	if err != nil {
		return "", nil, err
	}
	list, err := forge.Tools(ctx)
	if err != nil {
		return "", nil, err
	}
	tools := make([]service.Tool, len(list))
	for i, t := range list {
		tools[i] = service.Tool{OS: t.OS, Architecture: t.Architecture, DownloadURL: t.DownloadURL, Filename: t.Filename, SHA256: t.SHA256, TempToken: t.TempToken}
	}
	return forge.URL(), tools, nil
}
