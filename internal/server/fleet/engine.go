package fleet

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Options are what an Engine is made of. Store, Forges, Providers and Tokens are required.
type Options struct {
	Store     Store
	Forges    Forges
	Providers Providers
	Tokens    Tokens
	// Logger is slog.Default() when nil.
	Logger *slog.Logger
	Limits Limits
}

// Limits bound what the engine does at a time and how often it looks. A zero field has its default.
type Limits struct {
	// ProviderWorkers is how many instances of one provider are worked on at a time; 16 by default.
	ProviderWorkers int
	// ProviderCreates is how many of them may be in a create, so that slow creates never hold up deletions; 10 by default.
	ProviderCreates int
	// Workers is how many pools, and how many entities of one endpoint, are worked on at a time; 4 by default.
	Workers int
	// CreateAttempts is how often the machine of a row is tried before the row stays in error; 5 by default.
	CreateAttempts int
	// ScaleDownGrace is how long a surplus runner must have been idle before it is removed; 2 min by default.
	ScaleDownGrace time.Duration
	// ToolsEvery is how often the downloads of a forge are fetched, whose tokens live for an hour; 40 min by default.
	ToolsEvery time.Duration
	// SweepEvery is how often the runners at a forge are compared with the rows; 5 min by default.
	SweepEvery time.Duration
	// ResyncEvery is how often everything is looked at although no change was told; 15 min by default.
	ResyncEvery time.Duration
}

func orDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

func (l *Limits) complete() {
	orDefault(&l.ProviderWorkers, 16)
	orDefault(&l.ProviderCreates, 10)
	orDefault(&l.Workers, 4)
	orDefault(&l.CreateAttempts, 5)
	orDefault(&l.ScaleDownGrace, 2*time.Minute)
	orDefault(&l.ToolsEvery, 40*time.Minute)
	orDefault(&l.SweepEvery, 5*time.Minute)
	orDefault(&l.ResyncEvery, 15*time.Minute)
}

// Engine drives all entities, pools and instances of a store. All that it decides by is in the store; what it holds in
// memory (health, downloads, rate limits, suspicions) can be lost at any time.
type Engine struct {
	store     Store
	forges    Forges
	providers Providers
	tokens    Tokens
	log       *slog.Logger
	limits    Limits

	entities entities
	places   places
	gate     gate
	queues   atomic.Pointer[queues]
}

// New makes an Engine. Nothing happens until Run.
func New(o Options) *Engine {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.Limits.complete()
	return &Engine{
		store: o.Store, forges: o.Forges, providers: o.Providers, tokens: o.Tokens,
		log: o.Logger, limits: o.Limits,
	}
}

// Run works until ctx ends, and returns nil then, after everything that it started has stopped. It may be called once
// at a time. It first looks at every row, so that what was in flight when the last run ended is resolved.
func (e *Engine) Run(ctx context.Context) error {
	q := newQueues(ctx, e)
	if !e.queues.CompareAndSwap(nil, q) {
		q.stop()
		return errors.New("the fleet engine is running already")
	}
	defer e.queues.Store(nil)
	q.start(ctx)
	q.resync.add(struct{}{})
	<-ctx.Done()
	q.stop()
	return nil
}

// Health says whether the pools of an entity are worked on. An entity that the engine has not looked at is not running.
func (e *Engine) Health(id model.EntityID) model.EntityHealth { return e.entities.health(id) }

// forge returns the forge of an entity behind the gate that keeps calls back while its credentials are rate-limited.
func (e *Engine) forge(ctx context.Context, entity model.Entity) (Forge, error) {
	f, err := e.forges.Forge(ctx, entity)
	if err != nil {
		return nil, err
	}
	return gated{gate: &e.gate, credentials: entity.Credentials.ID, forge: f, unanswered: func() { e.unanswered(entity.ID) }}, nil
}

// wake calls do with the queues of the present run; between runs there is nobody to wake.
func (e *Engine) wake(do func(q *queues)) {
	if q := e.queues.Load(); q != nil {
		do(q)
	}
}

// endpointsAtOnce is how many endpoints may have all the entity workers that they can get.
const endpointsAtOnce = 8

// queues are the keyed work queues of one run. A key is worked on by one worker at a time.
type queues struct {
	engine   *Engine
	resync   *queue[struct{}]
	entities *queue[model.EntityID]
	jobs     *queue[model.EntityID]
	pools    *queue[model.PoolID]

	ctx   context.Context
	mu    sync.Mutex
	lanes map[string]*lane
	ended bool
}

func newQueues(ctx context.Context, e *Engine) *queues {
	q := &queues{engine: e, ctx: ctx, lanes: map[string]*lane{}}
	q.resync = newQueue("resync", e.log, e.resyncAll)
	q.entities = newQueue("entity", e.log, e.reconcileEntity)
	q.jobs = newQueue("jobs", e.log, e.reconcileJobs)
	q.pools = newQueue("pool", e.log, e.reconcilePool)
	return q
}

func (q *queues) start(ctx context.Context) {
	q.resync.start(ctx, 1)
	// Far more than one endpoint may have, so that some that do not answer leave workers to the others.
	q.entities.start(ctx, endpointsAtOnce*q.engine.limits.Workers)
	q.jobs.start(ctx, q.engine.limits.Workers)
	q.pools.start(ctx, q.engine.limits.Workers)
}

func (q *queues) stop() {
	q.mu.Lock()
	q.ended = true
	lanes := q.lanes
	q.mu.Unlock()
	q.resync.stop()
	q.entities.stop()
	q.jobs.stop()
	q.pools.stop()
	for _, l := range lanes {
		l.stop()
	}
}

// instance wakes an instance in the lane of its provider. Each provider has workers of its own, so that one that hangs
// holds up nobody else; all names that are not configured share a lane.
func (q *queues) instance(row model.Instance) {
	name := row.ProviderName
	if _, ok := q.engine.providers.Provider(name); !ok {
		name = ""
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return
	}
	l := q.lanes[name]
	if l == nil {
		l = newLane(q.engine)
		q.lanes[name] = l
		l.start(q.ctx, q.engine.limits.ProviderWorkers)
	}
	l.add(row.ID)
}
