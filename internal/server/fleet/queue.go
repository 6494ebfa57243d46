package fleet

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// Delays between tries of a key whose reconcile failed unexpectedly, such as by an error of the database.
const (
	retryFirst = 200 * time.Millisecond
	retryMost  = time.Minute
)

// gather is for how long changes are gathered before what they add up to is looked at.
const gather = 50 * time.Millisecond

// reconcile brings one thing a step closer to what is wanted. A positive duration asks for another look after it. An
// error is unexpected: it is logged and the key is tried again.
type reconcile[K comparable] func(ctx context.Context, key K) (time.Duration, error)

// queue is a keyed work queue with its workers.
type queue[K comparable] struct {
	name string
	log  *slog.Logger
	work reconcile[K]
	keys workqueue.TypedRateLimitingInterface[K]
	done sync.WaitGroup
}

func newQueue[K comparable](name string, log *slog.Logger, work reconcile[K]) *queue[K] {
	return &queue[K]{
		name: name, log: log, work: work,
		keys: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[K](retryFirst, retryMost)),
	}
}

func (q *queue[K]) add(key K) { q.keys.Add(key) }

// soon wakes a key after a moment, so that it is looked at once, not many times, while much happens to it.
func (q *queue[K]) soon(key K) { q.keys.AddAfter(key, gather) }

func (q *queue[K]) start(ctx context.Context, workers int) {
	for range workers {
		q.done.Go(func() {
			for q.next(ctx) {
			}
		})
	}
}

// stop ends the workers and waits for them.
func (q *queue[K]) stop() {
	q.keys.ShutDown()
	q.done.Wait()
}

func (q *queue[K]) next(ctx context.Context) bool {
	key, ended := q.keys.Get()
	if ended {
		return false
	}
	defer q.keys.Done(key)
	if stopping(ctx) {
		return true
	}
	after, err := q.work(ctx, key)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		q.log.Warn("a step failed and will be tried again", "queue", q.name, "key", key, "error", err)
		q.keys.AddRateLimited(key)
	default:
		q.keys.Forget(key)
		if after > 0 {
			q.keys.AddAfter(key, after)
		}
	}
	return true
}
