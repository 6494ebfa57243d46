package entity

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/garm-operator/garm-operator/internal/operator/mirror"
)

// failedTries remembers what a server has refused, so that it is not asked at every wake-up: of each resource the last
// refusal, for as long as nothing changes that could make it another.
type failedTries struct {
	mu    sync.Mutex
	all   map[types.NamespacedName]failedTry
	swept time.Time
}

type failedTry struct {
	wish    string
	until   time.Time
	message string
	outcome mirror.Outcome
	// removed says that the server has removed its webhook for this wish, to no avail; conflicts counts its refusals since.
	removed   bool
	conflicts int
}

const (
	// triesKept is for how long a refusal is known after it has ceased to count, so that the next one is seen to follow it.
	triesKept = time.Hour
	// sweepEvery is the least time between two looks for refusals that nobody needs any more.
	sweepEvery = time.Minute
)

// note remembers a refusal of a wish until a time. Those of resources that are gone leave with a later one.
func (f *failedTries) note(name types.NamespacedName, try failedTry, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[types.NamespacedName]failedTry{}
	}
	if now.Sub(f.swept) >= sweepEvery {
		maps.DeleteFunc(f.all, func(_ types.NamespacedName, old failedTry) bool { return old.until.Add(triesKept).Before(now) })
		f.swept = now
	}
	f.all[name] = try
}

// last returns the refusal that still counts for a wish.
func (f *failedTries) last(name types.NamespacedName, wish string, now time.Time) (failedTry, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	try, ok := f.all[name]
	return try, ok && try.wish == wish && now.Before(try.until)
}

// before returns the last refusal of a wish, whether it still counts or not.
func (f *failedTries) before(name types.NamespacedName, wish string) failedTry {
	f.mu.Lock()
	defer f.mu.Unlock()
	if try := f.all[name]; try.wish == wish {
		return try
	}
	return failedTry{}
}

func (f *failedTries) forget(name types.NamespacedName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, name)
}
