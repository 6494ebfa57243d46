package metricsauth

import (
	"net/netip"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/util/cache"
)

const (
	// sourceQPS and strangersQPS are how many tokens a second are reviewed of those that were not allowed of late, from one
	// address and in all; of each, as many as its burst at once. A reader with a new token needs one.
	sourceQPS, sourceBurst       = 0.5, 5
	strangersQPS, strangersBurst = 5, 20
	// maxSources is how many addresses are told apart, sourceIdle how long one is remembered: by then its burst is full again.
	maxSources = 1024
	sourceIdle = 30 * time.Second
)

// strangers bounds how many unknown tokens are reviewed.
type strangers struct {
	all     *rate.Limiter
	sources *cache.LRUExpireCache
}

func newStrangers() *strangers {
	return &strangers{all: rate.NewLimiter(strangersQPS, strangersBurst), sources: cache.NewLRUExpireCache(maxSources)}
}

// admit says whether a token from an address, as http.Request has it, may be reviewed now. One address alone cannot use up what
// all may. Two requests that are the first of an address at the same time may both count as its first.
func (s *strangers) admit(address string, now time.Time) bool {
	source := source(address)
	limit := rate.NewLimiter(sourceQPS, sourceBurst)
	if l, ok := s.sources.Get(source); ok {
		limit = l.(*rate.Limiter) //nolint:forcetypeassert // nothing else is put in
	}
	s.sources.Add(source, limit, sourceIdle)
	return limit.AllowN(now, 1) && s.all.AllowN(now, 1)
}

// source is what counts as one address: of IPv6 the network, since whoever has one address has as many as there are in it.
func source(address string) netip.Prefix {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Prefix{}
	}
	ip, bits := at.Addr().Unmap().WithZone(""), 32
	if ip.Is6() {
		bits = 64
	}
	network, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return network
}
