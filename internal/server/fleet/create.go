package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/model/instance"
)

// create registers a runner at the forge and has its machine made. That a create is under way is stored before the
// provider is called.
func (e *Engine) create(ctx context.Context, l *lane, pool model.Pool, row model.Instance) (time.Duration, error) {
	if !pool.Enabled {
		e.log.Info("giving up an instance that was not made yet, since its pool is disabled", "instance", row.Name, "pool", pool.ID)
		return 0, e.abandon(ctx, row)
	}
	tools, healthy := e.entities.tools(row.EntityID)
	if !healthy {
		return missingWait, nil
	}
	provider, ok := e.providers.Provider(row.ProviderName)
	if !ok {
		return e.blocked(ctx, row, fmt.Sprintf("provider %q is not configured", row.ProviderName))
	}
	controller, err := e.store.Controller(ctx)
	if err != nil {
		return 0, fmt.Errorf("reading the controller: %w", err)
	}
	if controller.MetadataURL == "" || controller.CallbackURL == "" {
		return e.blocked(ctx, row, "the controller has no metadata or callback URL")
	}
	entity, err := e.store.Entity(ctx, row.EntityID)
	if err != nil {
		return 0, fmt.Errorf("reading the entity of an instance: %w", err)
	}
	if !l.tryCreate(row.ID) {
		return 0, nil
	}
	defer l.endCreate()

	forge, err := e.forge(ctx, entity)
	if err != nil {
		return e.stepFailed(ctx, row, err.Error(), jitter(stepDelay(row.Failures+1)))
	}
	labels := RunnerLabels(controller.ID, pool, row)
	if !provider.DisablesJIT() && !row.JIT {
		registered, err := e.register(ctx, forge, row, labels)
		if err != nil {
			return e.stepFailed(ctx, row, "registering the runner: "+err.Error(), e.forgeFailed(ctx, entity, err, row.Failures+1))
		}
		row = registered
	}
	token, err := e.tokens.InstanceToken(row, entity, bootstrapTimeout(pool))
	if err != nil {
		return 0, fmt.Errorf("making the token of an instance: %w", err)
	}
	row, err = e.update(ctx, row, func(row *model.Instance) error {
		row.RetryAt, row.Failures = time.Time{}, 0
		return instance.SetStatus(row, instance.Engine, model.InstanceCreating)
	})
	if err != nil {
		return 0, err
	}
	bootstrap := Bootstrap{
		Name: row.Name, RepoURL: forge.URL(), CallbackURL: controller.CallbackURL, MetadataURL: controller.MetadataURL,
		Token: token, Tools: tools, JIT: row.JIT, CACerts: joinPEM(entity.Endpoint().CACertBundle, controller.CACertBundle),
	}
	if !row.JIT {
		bootstrap.Labels = labels
	}
	return 0, e.makeMachine(ctx, provider, pool, row, bootstrap)
}

// bootstrapTimeout is how long a runner of a pool may take until it is ready.
func bootstrapTimeout(pool model.Pool) time.Duration {
	if pool.BootstrapTimeout <= 0 {
		return model.DefaultBootstrapTimeout
	}
	return pool.BootstrapTimeout
}

func (e *Engine) makeMachine(ctx context.Context, provider Provider, pool model.Pool, row model.Instance, bootstrap Bootstrap) error {
	limited, cancel := context.WithTimeout(ctx, bootstrapTimeout(pool))
	defer cancel()
	machine, err := provider.Create(limited, pool, bootstrap)
	if err != nil && stopping(ctx) {
		// Nothing is known: the row stays in creating and is resolved at the next start.
		return nil
	}
	store, cancelStore := context.WithTimeout(context.WithoutCancel(ctx), storeGrace)
	defer cancelStore()
	switch {
	case err == nil && machine.Status != model.InstanceError:
		return e.created(store, row, machine)
	case err == nil:
		fault := string(machine.Fault)
		if fault == "" {
			fault = "the provider answered status error without a reason"
		}
		return e.createFailed(store, row, fault, machine.ProviderID, true)
	}
	var failed *ProviderError
	if errors.As(err, &failed) && failed.Kind == ProviderBadAnswer {
		return e.createFailed(store, row, failed.Fault, failed.ProviderID, false)
	}
	return e.createFailed(store, row, faultOf(err), "", true)
}

// created writes down a provider's answer. The row may be on its way out already, when the runner was done before the
// provider answered; then only the machine is noted.
func (e *Engine) created(ctx context.Context, row model.Instance, m Machine) error {
	_, err := e.store.UpdateInstance(ctx, row.ID, func(row *model.Instance) error {
		row.ProviderID, row.ProviderFault, row.Addresses = m.ProviderID, m.Fault, m.Addresses
		if m.OSName != "" {
			row.OSName = m.OSName
		}
		if m.OSVersion != "" {
			row.OSVersion = m.OSVersion
		}
		if row.Status != model.InstanceCreating {
			return nil
		}
		return instance.SetStatus(row, instance.Provider, m.Status)
	})
	if err == nil {
		e.log.Info("a machine was made", "instance", row.Name, "provider", row.ProviderName, "provider_id", m.ProviderID, "status", m.Status)
	}
	return err
}

// createFailed writes down that a create failed. With again, the machine is cleaned up and tried again; without, the
// provider has broken the protocol: a second try would only make a second machine, so the row stays in error, its
// machine with it, until somebody removes it or its bootstrap time is over.
func (e *Engine) createFailed(ctx context.Context, row model.Instance, fault, providerID string, again bool) error {
	e.log.Warn("a machine was not made", "instance", row.Name, "provider", row.ProviderName, "attempt", row.CreateAttempt, "fault", fault)
	_, err := e.store.UpdateInstance(ctx, row.ID, func(row *model.Instance) error {
		row.ProviderFault = []byte(fault)
		if providerID != "" {
			row.ProviderID = providerID
		}
		if row.Status != model.InstanceCreating {
			return nil
		}
		row.RetryAt, row.Failures = time.Time{}, 0
		if again {
			// The wait is spent in error, where users see what failed and may remove the runner.
			row.RetryAt = time.Now().Add(jitter(stepDelay(row.CreateAttempt)))
		}
		return instance.SetStatus(row, instance.Engine, model.InstanceError)
	})
	if err == nil {
		e.tell(ctx, row, model.LevelError, fault)
	}
	return err
}

// blocked notes, once, what an instance waits for that only a person can change.
func (e *Engine) blocked(ctx context.Context, row model.Instance, fault string) (time.Duration, error) {
	if string(row.ProviderFault) == fault {
		return missingWait, nil
	}
	e.log.Warn("an instance cannot be made", "instance", row.Name, "reason", fault)
	_, err := e.update(ctx, row, func(row *model.Instance) error {
		row.ProviderFault = []byte(fault)
		return nil
	})
	return missingWait, err
}

// abandon removes a row whose machine is not wanted any more.
func (e *Engine) abandon(ctx context.Context, row model.Instance) error {
	err := e.retire(ctx, row, func(current model.Instance) bool { return current.Status == row.Status })
	if isForgeError(err) && !stopping(ctx) {
		_, err = e.stepFailed(ctx, row, "removing the runner at the forge: "+err.Error(), jitter(stepDelay(row.Failures+1)))
	}
	return err
}

// joinPEM joins bundles of certificates; each begins on a line of its own.
func joinPEM(bundles ...[]byte) []byte {
	var out []byte
	for _, b := range bundles {
		if len(out) > 0 && len(b) > 0 && out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
		out = append(out, b...)
	}
	return out
}
