package endpoint

import (
	"crypto/sha256"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/garm-operator/garm-operator/internal/operator/refs"
)

// bundles remembers, by UID of the resource, the CA bundles at the server that this process has found to be those of the
// Secrets. The marker on a resource says what was sent, not what the server has: somebody may have exchanged it there.
type bundles struct {
	mu      sync.Mutex
	inForce map[types.UID]inForce
}

// inForce is the version of a Secret, and the sum of what the server has then.
type inForce struct {
	marker string
	bundle [sha256.Size]byte
}

func newBundles() *bundles { return &bundles{inForce: map[types.UID]inForce{}} }

func (b *bundles) note(uid types.UID, s *refs.Secret, have []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inForce[uid] = inForce{s.Marker(), sha256.Sum256(have)}
}

func (b *bundles) known(uid types.UID, s *refs.Secret, have []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inForce[uid] == inForce{s.Marker(), sha256.Sum256(have)}
}

func (b *bundles) forget(uid types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.inForce, uid)
}
