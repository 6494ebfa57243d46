// Package metricsauth lets only those read metrics whom the Kubernetes API server knows and allows to. It does what
// controller-runtime's filter does, without the 260 packages of the API server's libraries that come with that one.
package metricsauth

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	// remembered is how long an answer of the API server holds, and maxRemembered how many are kept.
	remembered    = time.Minute
	maxRemembered = 256
	// reviewTimeout bounds the questions of one request, reviewQPS those of all: strangers must not make the operator
	// a burden for the API server.
	reviewTimeout = 10 * time.Second
	reviewQPS     = 10
	// maxToken is far beyond what tokens of service accounts need.
	maxToken = 16 << 10
)

// Filter checks requests by TokenReview and SubjectAccessReview. Its own account needs to create both.
type Filter struct {
	client kubernetes.Interface
	known  *cache.LRUExpireCache
}

// New makes a filter that asks the API server of config.
func New(config *rest.Config) (*Filter, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst, config.Timeout = reviewQPS, 2*reviewQPS, reviewTimeout
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for reviews: %w", err)
	}
	return &Filter{client: client, known: cache.NewLRUExpireCache(maxRemembered)}, nil
}

// Wrap answers 401 to requests without a token that the API server knows, 403 where its holder may not use the method on
// the path, and 500 where nobody can tell; all others reach next.
func (f *Filter) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || token == "" || len(token) > maxToken {
			http.Error(w, "a bearer token is required", http.StatusUnauthorized)
			return
		}
		status, err := f.decide(r.Context(), token, strings.ToLower(r.Method), r.URL.Path)
		switch {
		case err != nil:
			http.Error(w, "the API server did not answer", http.StatusInternalServerError)
		case status == http.StatusOK:
			next.ServeHTTP(w, r)
		default:
			http.Error(w, http.StatusText(status), status)
		}
	})
}

// question is what answers are remembered by. The token itself is not kept.
type question struct {
	token      [sha256.Size]byte
	verb, path string
}

func (f *Filter) decide(ctx context.Context, token, verb, path string) (int, error) {
	key := question{sha256.Sum256([]byte(token)), verb, path}
	if status, ok := f.known.Get(key); ok {
		return status.(int), nil //nolint:forcetypeassert // nothing else is put in
	}
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	status, err := f.review(ctx, token, verb, path)
	if err == nil {
		f.known.Add(key, status, remembered)
	}
	return status, err
}

func (f *Filter) review(ctx context.Context, token, verb, path string) (int, error) {
	who, err := f.client.AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token},
	}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("review a token: %w", err)
	}
	if !who.Status.Authenticated {
		return http.StatusUnauthorized, nil
	}
	user := who.Status.User
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for k, v := range user.Extra {
		extra[k] = authorizationv1.ExtraValue(v)
	}
	may, err := f.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user.Username, Groups: user.Groups, UID: user.UID, Extra: extra,
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Verb: verb, Path: path},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("review an access: %w", err)
	}
	if !may.Status.Allowed || may.Status.Denied {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}
