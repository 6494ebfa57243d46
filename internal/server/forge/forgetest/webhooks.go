package forgetest

import (
	"context"
	"slices"
	"sync"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Webhooks are the webhooks of a forge in memory. The zero value works.
type Webhooks struct {
	mu     sync.Mutex
	fail   error
	hooks  []Hook
	last   int64
	pinged []int64
}

// Hook is a webhook with its secret.
type Hook struct {
	model.Webhook
	Secret string
}

// Fail makes every call fail with err, or none where it is nil.
func (w *Webhooks) Fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = err
}

// Add installs a webhook as a user would by hand, and returns its id.
func (w *Webhooks) Add(url string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.add(model.WebhookConfig{URL: url}).ID
}

// All returns the webhooks, the oldest first.
func (w *Webhooks) All() []Hook {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.hooks)
}

// Pinged returns the ids of the webhooks that were tried, in order.
func (w *Webhooks) Pinged() []int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.pinged)
}

func (w *Webhooks) add(c model.WebhookConfig) model.Webhook {
	w.last++
	w.hooks = append(w.hooks, hookOf(w.last, c))
	return w.hooks[len(w.hooks)-1].Webhook
}

func hookOf(id int64, c model.WebhookConfig) Hook {
	return Hook{model.Webhook{ID: id, URL: c.URL, Events: []string{"workflow_job"}, Active: true, InsecureSSL: c.InsecureSSL}, c.Secret}
}

// List returns all webhooks.
func (w *Webhooks) List(context.Context) ([]model.Webhook, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]model.Webhook, len(w.hooks))
	for i, h := range w.hooks {
		list[i] = h.Webhook
	}
	return list, w.fail
}

// Install makes a webhook.
func (w *Webhooks) Install(_ context.Context, c model.WebhookConfig) (model.Webhook, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail != nil {
		return model.Webhook{}, w.fail
	}
	return w.add(c), nil
}

// Change makes a webhook what Install would make.
func (w *Webhooks) Change(_ context.Context, id int64, c model.WebhookConfig) (model.Webhook, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail != nil {
		return model.Webhook{}, w.fail
	}
	i := slices.IndexFunc(w.hooks, func(h Hook) bool { return h.ID == id })
	if i < 0 {
		return model.Webhook{}, model.Invalid("hook %d does not exist", id)
	}
	w.hooks[i] = hookOf(id, c)
	return w.hooks[i].Webhook, nil
}

// Remove removes a webhook.
func (w *Webhooks) Remove(_ context.Context, id int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hooks = slices.DeleteFunc(w.hooks, func(h Hook) bool { return h.ID == id && w.fail == nil })
	return w.fail
}

// Ping notes that a webhook was tried.
func (w *Webhooks) Ping(_ context.Context, id int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pinged = append(w.pinged, id)
	return w.fail
}
