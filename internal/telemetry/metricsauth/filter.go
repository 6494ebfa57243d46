package metricsauth

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/rest"
)

const (
	// allowedFor and refusedFor are how long an answer of the API server holds; maxAllowed and maxRefused are how many are kept.
	allowedFor = time.Minute
	refusedFor = 10 * time.Second
	maxAllowed = 256
	maxRefused = 1024
	// reader is how long after its last good answer a token counts as that of a reader.
	reader = 2 * time.Hour
	// reviewTimeout bounds the questions of one request, readerQPS how many a second are asked for readers.
	reviewTimeout = 10 * time.Second
	readerQPS     = 10
	// maxToken is far beyond what tokens of service accounts need.
	maxToken = 16 << 10
)

// Filter checks requests by TokenReview and SubjectAccessReview. Its own account needs to create both.
//
// Strangers can do no more than their share: what is remembered of tokens that were refused is kept apart from what is
// remembered of those that were not, and tokens that were allowed of late are reviewed apart from all others, of which few a
// second are, from one address and in all.
type Filter struct {
	reviews reviewer
	// allowed and refused are the answers that still hold.
	allowed, refused *cache.LRUExpireCache
	// readers are the tokens that were allowed of late.
	readers   *cache.LRUExpireCache
	paced     *rate.Limiter
	strangers *strangers
	// flights makes one review of questions that are asked at the same time.
	flights singleflight.Group
}

// New makes a filter that asks the API server of config.
func New(config *rest.Config) (*Filter, error) {
	reviews, err := newReviews(config)
	if err != nil {
		return nil, err
	}
	return newFilter(reviews), nil
}

func newFilter(reviews reviewer) *Filter {
	return &Filter{
		reviews: reviews,
		allowed: cache.NewLRUExpireCache(maxAllowed), refused: cache.NewLRUExpireCache(maxRefused), readers: cache.NewLRUExpireCache(maxAllowed),
		paced: rate.NewLimiter(readerQPS, 2*readerQPS), strangers: newStrangers(),
	}
}

// Wrap answers 405 to requests that do not read, 401 to those without a token that the API server knows, 403 where its holder
// may not use the method on the path, 429 to strangers of whom there are too many, and 500 where nobody can tell; all others
// reach next.
func (f *Filter) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Other methods would be one more question each.
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
			return
		}
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || token == "" || len(token) > maxToken {
			http.Error(w, "a bearer token is required", http.StatusUnauthorized)
			return
		}
		status, err := f.decide(r, token)
		switch {
		case err != nil:
			http.Error(w, "the API server did not answer", http.StatusInternalServerError)
		case status == http.StatusOK:
			next.ServeHTTP(w, r)
		default:
			if status == http.StatusTooManyRequests {
				w.Header().Set("Retry-After", "10")
			}
			http.Error(w, http.StatusText(status), status)
		}
	})
}

// question is what answers are remembered by. The token itself is not kept.
type question struct {
	token      [sha256.Size]byte
	verb, path string
}

func (f *Filter) decide(r *http.Request, token string) (int, error) {
	key := question{sha256.Sum256([]byte(token)), strings.ToLower(r.Method), r.URL.Path}
	if _, ok := f.allowed.Get(key); ok {
		return http.StatusOK, nil
	}
	if status, ok := f.refused.Get(key); ok {
		return status.(int), nil //nolint:forcetypeassert // nothing else is put in
	}
	_, known := f.readers.Get(key.token)
	if !known && !f.strangers.admit(r.RemoteAddr, time.Now()) {
		return http.StatusTooManyRequests, nil
	}
	answer := f.flights.DoChan(fmt.Sprintf("%x %s %s", key.token, key.verb, key.path), func() (any, error) {
		// The others who wait for the answer must not go without it when the first of them goes.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), reviewTimeout)
		defer cancel()
		if known {
			if err := f.paced.Wait(ctx); err != nil {
				return 0, fmt.Errorf("wait for a review: %w", err)
			}
		}
		status, err := f.reviews.review(ctx, token, key.verb, key.path)
		if err == nil {
			f.remember(key, status)
		}
		return status, err
	})
	select {
	case <-r.Context().Done():
		return 0, r.Context().Err()
	case a := <-answer:
		return a.Val.(int), a.Err //nolint:forcetypeassert // the function above returns nothing else
	}
}

func (f *Filter) remember(key question, status int) {
	if status != http.StatusOK {
		f.refused.Add(key, status, refusedFor)
		f.readers.Remove(key.token)
		return
	}
	f.allowed.Add(key, status, allowedFor)
	f.readers.Add(key.token, true, reader)
}
