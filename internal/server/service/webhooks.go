package service

import (
	"context"
	"slices"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/weburl"
)

// sideEffectTimeout bounds what a use case does at the forge beside its own task, while the caller waits.
const sideEffectTimeout = 10 * time.Second

// WebhookRequest asks for the webhook of an entity.
type WebhookRequest struct {
	InsecureSSL bool
	// Replace, where it is not empty, allows an installed webhook to be changed in place: the one of that URL, or the
	// server's own.
	Replace string
}

// Webhook returns the webhook of an entity that goes to this server.
func (s *Service) Webhook(ctx context.Context, kind model.EntityKind, id model.EntityID) (model.Webhook, error) {
	w, err := s.webhooksOf(ctx, kind, id)
	if err != nil {
		return model.Webhook{}, err
	}
	i := slices.IndexFunc(w.list, func(h model.Webhook) bool { return h.URL == w.controller.OwnWebhookURL() })
	if i < 0 {
		return model.Webhook{}, model.NotFound("hook not found")
	}
	return w.list[i], nil
}

// InstallWebhook makes the forge tell this server of the jobs of an entity.
func (s *Service) InstallWebhook(ctx context.Context, kind model.EntityKind, id model.EntityID, r WebhookRequest) (model.Webhook, error) {
	unlock, err := s.webhookLocks.lock(ctx, id)
	if err != nil {
		return model.Webhook{}, err
	}
	defer unlock()
	w, err := s.webhooksOf(ctx, kind, id)
	if err != nil {
		return model.Webhook{}, err
	}
	config := model.WebhookConfig{URL: w.controller.OwnWebhookURL(), InsecureSSL: r.InsecureSSL}
	if config.URL == "" {
		return model.Webhook{}, model.Invalid("the webhook URL of the controller is not set: PUT /controller sets webhook_url")
	}
	place, err := placeFor(w.controller, w.list, r.Replace)
	if err != nil {
		return model.Webhook{}, err
	}
	state, err := s.Store.WebhookState(ctx, id)
	if err != nil {
		return model.Webhook{}, err
	}
	config.Secret = string(state.Secret)
	var installed model.Webhook
	if place != nil {
		installed, err = w.forge.Change(ctx, place.ID, config)
	} else {
		installed, err = w.forge.Install(ctx, config)
	}
	if err != nil {
		return model.Webhook{}, err
	}
	err = s.Store.UpdateWebhookState(ctx, id, func(now *model.WebhookState) error {
		now.Installed = true
		now.Told(state.Secret, s.Now())
		return nil
	})
	if err != nil {
		return model.Webhook{}, err
	}
	if state.Waiting() {
		s.addEvent(ctx, w.entity, model.LevelInfo, secretReached)
	}
	log := s.Log.With("entity", w.entity.FullName(), "hook", installed.ID)
	log.Info("Webhook installed", "url", installed.URL, "changed", place != nil)
	if err := w.forge.Ping(ctx, installed.ID); err != nil {
		log.Warn("The forge could not be asked to try the webhook", "error", err)
	}
	return installed, nil
}

// UninstallWebhook removes the webhook of an entity. None is no error.
func (s *Service) UninstallWebhook(ctx context.Context, kind model.EntityKind, id model.EntityID) error {
	unlock, err := s.webhookLocks.lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	w, err := s.webhooksOf(ctx, kind, id)
	if err != nil {
		return err
	}
	if len(ownWebhooks(w.controller, w.list)) == 0 && slices.ContainsFunc(w.list, func(h model.Webhook) bool { return isBare(w.controller, h) }) {
		return model.Invalid("the hook goes to %s, which does not name this controller: it was installed by hand; remove it at the forge", weburl.WithoutLogin(w.controller.WebhookURL))
	}
	if err := s.removeOwn(ctx, w); err != nil {
		return err
	}
	return s.Store.UpdateWebhookState(ctx, id, func(now *model.WebhookState) error {
		now.Installed = false
		now.Forget()
		return nil
	})
}

func (s *Service) removeOwn(ctx context.Context, w entityWebhooks) error {
	for _, h := range ownWebhooks(w.controller, w.list) {
		if err := w.forge.Remove(ctx, h.ID); err != nil {
			return err
		}
		s.Log.Info("Webhook removed", "entity", w.entity.FullName(), "hook", h.ID, "url", h.URL)
	}
	return nil
}

// entityWebhooks are the webhooks of one entity as the forge shows them.
type entityWebhooks struct {
	entity     model.Entity
	controller model.Controller
	forge      Webhooks
	list       []model.Webhook
}

func (s *Service) webhooksOf(ctx context.Context, kind model.EntityKind, id model.EntityID) (entityWebhooks, error) {
	e, err := s.Entity(ctx, kind, id)
	if err != nil {
		return entityWebhooks{}, err
	}
	return s.listWebhooks(ctx, e)
}

func (s *Service) listWebhooks(ctx context.Context, e model.Entity) (w entityWebhooks, err error) {
	w.entity = e
	if w.controller, err = s.Store.Controller(ctx); err != nil {
		return w, err
	}
	if w.forge, err = s.Forges.Webhooks(ctx, e); err != nil {
		return w, err
	}
	w.list, err = w.forge.List(ctx)
	return w, err
}

// managed says whether the server looks after the webhook of an entity.
func (s *Service) managed(e model.Entity) bool {
	return s.ManageWebhooks && e.Kind != model.KindEnterprise
}

// dropWebhook removes the webhook of an entity that is gone. What stays behind does no harm: its deliveries are ignored.
func (s *Service) dropWebhook(ctx context.Context, e model.Entity) {
	if !s.managed(e) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sideEffectTimeout)
	defer cancel()
	w, err := s.listWebhooks(ctx, e)
	if err == nil {
		err = s.removeOwn(ctx, w)
	}
	if err != nil {
		s.Log.Warn("The webhook of a deleted entity could not be removed", "entity", e.FullName(), "error", err)
	}
}
