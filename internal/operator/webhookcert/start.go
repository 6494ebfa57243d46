package webhookcert

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/garm-operator/garm-operator/internal/operator/access"
)

// firstLook bounds how long the first pass waits for all objects to be read, so that one that cannot be holds up nothing.
const firstLook = 30 * time.Second

// Start keeps the certificate until ctx ends. Where rights are missing it does what it can, tells so, and goes on as soon as
// they are there.
func (k *Keeper) Start(ctx context.Context) error {
	anyName := true // several operators in one process are a test's business
	c, err := controller.NewUnmanaged("webhook-certificate", controller.Options{
		Reconciler: k, SkipNameValidation: &anyName, Logger: k.options.Log, MaxConcurrentReconciles: 1,
	})
	if err != nil {
		return fmt.Errorf("make the controller of the certificate: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		var opening sync.WaitGroup
		left := k.begin(ctx, c, group, &opening, k.watched)
		group.Go(func() error { return k.waitForRights(ctx, c, group, left) })
		wait(ctx, &opening, firstLook)
		return c.Start(ctx)
	})
	return group.Wait()
}

// waitForRights watches what could not be watched at first, as soon as it may.
func (k *Keeper) waitForRights(ctx context.Context, c controller.Controller, group *errgroup.Group, left []*watched) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(k.options.Again):
		}
		if left = slices.DeleteFunc(left, (*watched).settled); len(left) == 0 {
			return nil
		}
		left = k.begin(ctx, c, group, &sync.WaitGroup{}, left)
	}
}

// begin asks which rights there are, starts the watches for which they suffice, and returns the objects to ask for again. Where
// the API server does not say, what it said before counts; at first nothing is known to be missing.
func (k *Keeper) begin(ctx context.Context, c controller.Controller, group *errgroup.Group, opening *sync.WaitGroup, all []*watched) []*watched {
	var asked []access.Right
	for _, w := range all {
		asked = append(asked, w.needs()...)
	}
	missing, err := access.Missing(ctx, k.reviews, asked)
	if err != nil {
		if missing = k.missing.lastReview(); ctx.Err() == nil {
			k.options.Log.Info("cannot find out whether the rights suffice to keep the certificate of the webhooks", "error", err.Error())
		}
	}
	lacks := func(rights []access.Right) bool {
		return slices.ContainsFunc(rights, func(r access.Right) bool { return slices.Contains(missing, r) })
	}
	k.missing.review(missing)
	for _, w := range all {
		w.lacks = lacks(w.needs())
		if w.begun || lacks(w.sees()) {
			continue
		}
		w.begun = true
		group.Go(func() error { return w.cache.Start(ctx) })
		opening.Add(1)
		group.Go(func() error {
			defer opening.Done()
			return k.follow(ctx, c, w)
		})
	}
	return slices.Clone(all)
}

// follow has a pass made at once when an object can be read, and whenever it changes.
func (k *Keeper) follow(ctx context.Context, c controller.Controller, w *watched) error {
	for {
		_, err := w.cache.GetInformer(ctx, w.object)
		if err == nil {
			break
		}
		k.options.Log.V(1).Info("cannot watch yet", "object", w.object.GetName(), "error", err.Error())
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(again):
		}
	}
	if !w.cache.WaitForCacheSync(ctx) {
		return nil
	}
	w.open.Store(true)
	request := reconcile.Request{NamespacedName: k.options.Secret}
	same := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{request} })
	for _, s := range []source.Source{
		source.Kind(w.cache, w.object, same),
		source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
			queue.Add(request) // of an object that is not there nothing is heard
			return nil
		}),
	} {
		if err := c.Watch(s); err != nil {
			return fmt.Errorf("watch %s: %w", w.object.GetName(), err)
		}
	}
	return nil
}

// wait waits until all is done, for some time at most.
func wait(ctx context.Context, all *sync.WaitGroup, most time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		all.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
