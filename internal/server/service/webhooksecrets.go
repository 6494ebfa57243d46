package service

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// settleEvery is about how often the forge is told again what it could not be told.
const settleEvery = 5 * time.Minute

// secretReached is what users are told of a secret that could not be told at first.
const secretReached = "the webhook at the forge has the new secret"

// KeepWebhookSecrets tells the forge the webhook secrets that it has not been told yet, since a call failed or the server
// ended meanwhile, at once and then from time to time until ctx ends.
func (s *Service) KeepWebhookSecrets(ctx context.Context) {
	for ctx.Err() == nil {
		s.SettleWebhookSecrets(ctx)
		timer := time.NewTimer(settleEvery/2 + rand.N(settleEvery)) //nolint:gosec // not a secret
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// SettleWebhookSecrets does once what KeepWebhookSecrets does.
func (s *Service) SettleWebhookSecrets(ctx context.Context) {
	entities, err := s.Store.EntitiesWithOldSecrets(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.Log.Error("The webhook secrets could not be looked at", "error", err)
		}
		return
	}
	for _, e := range entities {
		if ctx.Err() != nil {
			return
		}
		if !s.managed(e) {
			s.giveUpSecret(ctx, e)
			continue
		}
		outcome, err := s.tellSecret(ctx, e)
		switch {
		case outcome == secretTold:
			s.addEvent(ctx, e, model.LevelInfo, secretReached)
		case outcome == secretFailed && ctx.Err() == nil:
			s.Log.Debug("The webhook still has the old secret", "entity", e.FullName(), "error", err)
		}
	}
}

// giveUpSecret ends the wait for the forge where this server manages webhooks no longer: an old secret must not count for ever.
func (s *Service) giveUpSecret(ctx context.Context, e model.Entity) {
	var waited bool
	err := s.Store.UpdateWebhookState(ctx, e.ID, func(now *model.WebhookState) error {
		waited = now.Waiting()
		now.Forget()
		return nil
	})
	if err != nil {
		s.Log.Error("An old webhook secret could not be forgotten", "entity", e.FullName(), "error", err)
	} else if waited {
		s.addEvent(ctx, e, model.LevelError, "the webhook at the forge may have the old secret, which counts no longer, since this server does not manage webhooks any more; give it the new one there")
	}
}

// passOnSecret tells the forge the new secret of an entity, where the server has installed the webhook there. The caller has
// its change anyway: until the forge is told, webhooks signed by the old secret are taken, too.
func (s *Service) passOnSecret(ctx context.Context, e model.Entity) {
	if !s.managed(e) {
		return
	}
	outcome, err := s.tellSecret(context.WithoutCancel(ctx), e)
	if outcome != secretFailed {
		return
	}
	s.Log.Warn("The webhook still has the old secret", "entity", e.FullName(), "error", err)
	s.addEvent(context.WithoutCancel(ctx), e, model.LevelError, "the webhook at the forge still has the old secret, which counts until the forge takes the new one; it is tried again: "+model.TextOf(err))
}

func (s *Service) addEvent(ctx context.Context, e model.Entity, level model.EventLevel, message string) {
	if err := s.Store.AddEntityEvent(ctx, e.ID, level, message); err != nil {
		s.Log.Error("An event could not be stored", "entity", e.FullName(), "error", err)
	}
}

// secretOutcome is what came of telling the forge a secret.
type secretOutcome int

const (
	// secretSettled: there is nothing to tell, or nobody to tell it.
	secretSettled secretOutcome = iota
	secretTold
	// secretFailed: the webhook that the server has installed still has the old secret.
	secretFailed
	// secretUnknown: the forge did not say whether it has a webhook to this server, and the server has installed none.
	secretUnknown
)

// tellSecret tells the forge the secret of an entity, where that waits for it. Of webhooks that the server did not install
// it cannot be expected to change the secret: whoever made them by hand does so, and the new secret counts at once.
func (s *Service) tellSecret(ctx context.Context, e model.Entity) (secretOutcome, error) {
	ctx, cancel := context.WithTimeout(ctx, sideEffectTimeout)
	defer cancel()
	unlock, err := s.webhookLocks.lock(ctx, e.ID)
	if err != nil {
		return secretUnknown, err
	}
	defer unlock()
	state, err := s.Store.WebhookState(ctx, e.ID)
	if err != nil {
		return secretUnknown, err
	}
	if !state.Waiting() {
		return secretSettled, s.Store.UpdateWebhookState(ctx, e.ID, func(now *model.WebhookState) error {
			if len(now.Accepted(s.Now())) == 1 {
				now.Forget()
			}
			return nil
		})
	}
	changed, err := s.changeSecret(ctx, e, string(state.Secret))
	switch {
	case err != nil && state.Installed:
		return secretFailed, err
	case err != nil && model.KindOf(err) != model.KindInvalid:
		return secretUnknown, err
	case err != nil:
		s.Log.Debug("No webhook of this server is known, and the forge shows none", "entity", e.FullName(), "error", err)
	}
	err = s.Store.UpdateWebhookState(ctx, e.ID, func(now *model.WebhookState) error {
		now.Installed = changed > 0
		if now.Told(state.Secret, s.Now()); changed == 0 && !now.Waiting() {
			now.Forget()
		}
		return nil
	})
	if err != nil || changed == 0 {
		return secretSettled, err
	}
	return secretTold, nil
}

// changeSecret gives the webhooks of the server a secret, and says how many there are.
func (s *Service) changeSecret(ctx context.Context, e model.Entity, secret string) (int, error) {
	w, err := s.listWebhooks(ctx, e)
	if err != nil {
		return 0, err
	}
	own := ownWebhooks(w.controller, w.list)
	for _, h := range own {
		if _, err := w.forge.Change(ctx, h.ID, model.WebhookConfig{URL: h.URL, Secret: secret, InsecureSSL: h.InsecureSSL}); err != nil {
			return 0, err
		}
		s.Log.Info("Webhook has the new secret", "entity", e.FullName(), "hook", h.ID)
	}
	return len(own), nil
}
