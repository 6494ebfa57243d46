package remote

import (
	"time"

	"github.com/go-logr/logr"
)

// Defaults of Options.
const (
	DefaultSyncPeriod          = 5 * time.Minute
	DefaultEntityInterval      = time.Minute
	DefaultSyncRunnersInterval = 5 * time.Second
	DefaultWritesInFlight      = 2
	DefaultSweepPeriod         = 6 * time.Hour
)

// Options configure a Session. The zero value of every field but Server is its default.
type Options struct {
	// Server names the server in identities, logs and metrics.
	Server string
	// Log receives one line per change of state.
	Log logr.Logger
	// Metrics is told what the session does.
	Metrics Metrics
	// SyncPeriod is how long a kind is trusted to its events before it is listed again. Default 5 minutes, and never
	// less than twenty times as long as its last list took.
	SyncPeriod time.Duration
	// EntityInterval is the same for repositories, organizations and enterprises, whose pool managers go down without an
	// event on v0.1.5, and for everything but runners while there are no events. Default 1 minute.
	EntityInterval time.Duration
	// RunnerReconciliation says that runners are mirrored to Kubernetes: without events they are then listed every
	// SyncRunnersInterval rather than every EntityInterval.
	RunnerReconciliation bool
	// SyncRunnersInterval is between 5 seconds, the default, and 5 minutes.
	SyncRunnersInterval time.Duration
	// WritesInFlight limits the concurrent writes to the server. Default 2: servers on SQLite fail under more.
	WritesInFlight int
	// SweepPeriod is how long it takes to GET every pool once on servers that do not say when a pool changed (v0.1.5).
	// Default 6 hours.
	SweepPeriod time.Duration
}

func (o Options) withDefaults() Options {
	if o.Metrics == nil {
		o.Metrics = NopMetrics{}
	}
	setDefault(&o.SyncPeriod, DefaultSyncPeriod)
	setDefault(&o.EntityInterval, DefaultEntityInterval)
	setDefault(&o.SyncRunnersInterval, DefaultSyncRunnersInterval)
	setDefault(&o.SweepPeriod, DefaultSweepPeriod)
	setDefault(&o.WritesInFlight, DefaultWritesInFlight)
	return o
}

func setDefault[T ~int | ~int64](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}
