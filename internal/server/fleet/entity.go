package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// reconcileEntity keeps an entity's health and downloads fresh, and compares its runners with the rows from time to time.
// Where too many of its endpoint are under way, it is woken when a place is free: every step wakes the next, since the
// entity may have gone whose turn it was.
func (e *Engine) reconcileEntity(ctx context.Context, id model.EntityID) (time.Duration, error) {
	defer func() {
		e.wake(func(q *queues) {
			for _, next := range e.places.next() {
				q.entities.add(next)
			}
		})
	}()
	entity, err := e.store.Entity(ctx, id)
	if model.IsNotFound(err) {
		e.entities.forget(id)
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading an entity: %w", err)
	}
	place := e.places.at(entity.Endpoint().Name, e.limits.Workers)
	if !place.take(id) {
		return 0, nil
	}
	defer place.release()
	now := time.Now()
	var toolsDue, sweepDue time.Time
	e.entities.with(id, func(s *entityState) {
		if s.credentials != entity.Credentials.ID || s.endpoint != entity.Endpoint().Name {
			s.toolsDue, s.failures = time.Time{}, 0
		}
		s.credentials, s.endpoint = entity.Credentials.ID, entity.Endpoint().Name
		toolsDue, sweepDue = s.toolsDue, s.sweepDue
	})
	if !now.Before(toolsDue) {
		if err := e.fetchTools(ctx, entity); err != nil {
			return e.unhealthy(ctx, entity, err)
		}
	}
	if err := e.healthy(ctx, entity); err != nil {
		return 0, err
	}
	if !now.Before(sweepDue) {
		if err := e.sweep(ctx, entity); err != nil {
			if stopping(ctx) {
				return 0, nil
			}
			e.log.Warn("comparing the runners at the forge with the rows failed", "entity", entity.FullName(), "error", err)
		}
		e.entities.with(id, func(s *entityState) { s.sweepDue = time.Now().Add(jitter(e.limits.SweepEvery)) })
	}
	var next time.Time
	e.entities.with(id, func(s *entityState) {
		next = s.toolsDue
		if s.sweepDue.Before(next) {
			next = s.sweepDue
		}
	})
	return max(time.Until(next), time.Second), nil
}

func (e *Engine) fetchTools(ctx context.Context, entity model.Entity) error {
	forge, err := e.forge(ctx, entity)
	if err != nil {
		return fmt.Errorf("making a client of the forge: %w", err)
	}
	tools, err := forge.Tools(ctx)
	if err != nil {
		return err
	}
	e.entities.with(entity.ID, func(s *entityState) {
		s.tools, s.toolsDue, s.failures = tools, time.Now().Add(jitter(e.limits.ToolsEvery)), 0
	})
	return nil
}

// healthy notes that the forge answers, and wakes what waited for it when that is news.
func (e *Engine) healthy(ctx context.Context, entity model.Entity) error {
	if !e.setHealth(entity.ID, model.EntityHealth{Running: true}) {
		return nil
	}
	e.log.Info("the forge of an entity answers", "entity", entity.FullName())
	if err := e.store.AddEntityEvent(ctx, entity.ID, model.LevelInfo, "the forge answers"); err != nil && !model.IsNotFound(err) {
		e.log.Warn("an event of an entity was not stored", "entity", entity.FullName(), "error", err)
	}
	return e.wakeEntity(ctx, entity.ID)
}

// unhealthy notes why the forge cannot be used and says when to try again.
func (e *Engine) unhealthy(ctx context.Context, entity model.Entity, cause error) (time.Duration, error) {
	if stopping(ctx) {
		return 0, nil
	}
	failures := 0
	e.entities.with(entity.ID, func(s *entityState) {
		s.failures++
		failures, s.toolsDue = s.failures, time.Time{}
	})
	until, limited := limitedUntil(cause)
	reason := cause.Error()
	if limited {
		// The forge's own words differ from call to call, and all calls that were under way come here.
		reason = "the rate limit of the credentials is used up until " + until.UTC().Format(time.RFC3339)
	}
	if e.setHealth(entity.ID, model.EntityHealth{FailureReason: reason}) {
		e.log.Warn("the forge of an entity cannot be used", "entity", entity.FullName(), "reason", reason)
		if err := e.store.AddEntityEvent(ctx, entity.ID, model.LevelError, reason); err != nil && !model.IsNotFound(err) {
			e.log.Warn("an event of an entity was not stored", "entity", entity.FullName(), "error", err)
		}
	}
	if limited {
		return max(time.Until(until), time.Second), nil
	}
	return jitter(entityDelay(failures)), nil
}

// setHealth stores the health of an entity and says whether it is news.
func (e *Engine) setHealth(id model.EntityID, health model.EntityHealth) bool {
	changed := false
	e.entities.with(id, func(s *entityState) {
		changed = s.health != health
		s.health = health
	})
	return changed
}

// unanswered has a healthy entity looked at again whose forge did not answer a call: if it answers none, its pools pause, and
// leave the workers of their provider to others.
func (e *Engine) unanswered(id model.EntityID) {
	doubtful := false
	e.entities.with(id, func(s *entityState) {
		if doubtful = s.health.Running; doubtful {
			s.toolsDue = time.Time{}
		}
	})
	if doubtful {
		e.wake(func(q *queues) { q.entities.add(id) })
	}
}

// forgeFailed takes note of a failed call to the forge of an entity. Where the failure concerns every call, the entity
// is looked at again, which pauses its pools until the forge answers. It says how long the caller should wait: never until
// a rate limit ends, since other credentials end it at once, and whoever comes earlier finds the entity paused.
func (e *Engine) forgeFailed(ctx context.Context, entity model.Entity, cause error, failures int) time.Duration {
	switch forgeKind(cause) {
	case ForgeUnauthorized, ForgeRateLimited:
		wait, _ := e.unhealthy(ctx, entity, cause)
		e.wake(func(q *queues) { q.entities.keys.AddAfter(entity.ID, wait) })
	}
	return jitter(stepDelay(failures))
}
