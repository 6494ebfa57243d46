package remote

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// MapFunc says which resources a notice concerns. It may read from caches; it must not call the GARM server.
type MapFunc func(ctx context.Context, notice Notice) []reconcile.Request

// Source returns a source for a controller's WatchesRawSource: every notice of the kinds becomes the requests that
// mapping says. The controller's queue makes equal ones one.
func (s *Session) Source(mapping MapFunc, kinds ...Kind) source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		sub := s.Subscribe(kinds...)
		go func() {
			defer sub.Close()
			for {
				notices, err := sub.Next(ctx)
				if err != nil {
					return
				}
				for _, n := range notices {
					for _, r := range mapping(ctx, n) {
						queue.Add(r)
					}
				}
			}
		}()
		return nil
	})
}
