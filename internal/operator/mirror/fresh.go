package mirror

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// cacheLag is when a pass is repeated that would have worked on an outdated resource.
const cacheLag = 20 * time.Millisecond

// freshness remembers what this process has last written of each resource, so that no pass works on something older from
// the cache.
type freshness struct {
	mu      sync.Mutex
	written map[types.NamespacedName]string
}

func (f *freshness) note(name types.NamespacedName, version string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.written == nil {
		f.written = map[types.NamespacedName]string{}
	}
	f.written[name] = version
}

func (f *freshness) forget(name types.NamespacedName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.written, name)
}

// current says whether a version from the cache is as new as what was written.
func (f *freshness) current(name types.NamespacedName, cached string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	written, ok := f.written[name]
	if !ok {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(cached, written)
	if err != nil {
		return true
	}
	return order >= 0
}
