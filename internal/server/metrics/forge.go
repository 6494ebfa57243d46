package metrics

import (
	"context"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/service"
)

// Forges counts the calls to the forges that it hands out.
type Forges struct {
	fleet.Forges
	Counters *Counters
}

// Forge implements fleet.Forges.
func (f Forges) Forge(ctx context.Context, entity model.Entity) (fleet.Forge, error) {
	made, err := f.Forges.Forge(ctx, entity)
	if err != nil {
		return nil, err
	}
	return forge{made, f.Counters, entity.Kind}, nil
}

type forge struct {
	fleet.Forge
	counters *Counters
	kind     model.EntityKind
}

func (f forge) count(operation string, err error) { f.counters.Forge(operation, f.kind, err) }

func (f forge) Tools(ctx context.Context) ([]fleet.Tool, error) {
	list, err := f.Forge.Tools(ctx)
	f.count("ListTools", err)
	return list, err
}

func (f forge) Runners(ctx context.Context) ([]fleet.Runner, error) {
	list, err := f.Forge.Runners(ctx)
	f.count("ListRunners", err)
	return list, err
}

func (f forge) Runner(ctx context.Context, id int64) (fleet.Runner, error) {
	r, err := f.Forge.Runner(ctx, id)
	f.count("GetRunner", err)
	return r, err
}

func (f forge) RemoveRunner(ctx context.Context, id int64) error {
	err := f.Forge.RemoveRunner(ctx, id)
	f.count("RemoveRunner", err)
	return err
}

func (f forge) JITConfig(ctx context.Context, name, group string, labels []string) (fleet.Runner, model.JITConfig, error) {
	r, config, err := f.Forge.JITConfig(ctx, name, group, labels)
	f.count("CreateJITConfig", err)
	return r, config, err
}

func (f forge) RegistrationToken(ctx context.Context) (string, time.Time, error) {
	token, expires, err := f.Forge.RegistrationToken(ctx)
	f.count("CreateRegistrationToken", err)
	return token, expires, err
}

// Webhooks counts the calls about the webhooks of an entity of a kind.
type Webhooks struct {
	service.Webhooks
	Counters *Counters
	Kind     model.EntityKind
}

// List implements service.Webhooks.
func (w Webhooks) List(ctx context.Context) ([]model.Webhook, error) {
	list, err := w.Webhooks.List(ctx)
	w.Counters.Forge("ListWebhooks", w.Kind, err)
	return list, err
}

// Install implements service.Webhooks.
func (w Webhooks) Install(ctx context.Context, config model.WebhookConfig) (model.Webhook, error) {
	h, err := w.Webhooks.Install(ctx, config)
	w.Counters.Forge("CreateWebhook", w.Kind, err)
	return h, err
}

// Change implements service.Webhooks.
func (w Webhooks) Change(ctx context.Context, id int64, config model.WebhookConfig) (model.Webhook, error) {
	h, err := w.Webhooks.Change(ctx, id, config)
	w.Counters.Forge("UpdateWebhook", w.Kind, err)
	return h, err
}

// Remove implements service.Webhooks.
func (w Webhooks) Remove(ctx context.Context, id int64) error {
	err := w.Webhooks.Remove(ctx, id)
	w.Counters.Forge("DeleteWebhook", w.Kind, err)
	return err
}

// Ping implements service.Webhooks.
func (w Webhooks) Ping(ctx context.Context, id int64) error {
	err := w.Webhooks.Ping(ctx, id)
	w.Counters.Forge("PingWebhook", w.Kind, err)
	return err
}
