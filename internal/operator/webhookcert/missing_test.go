package webhookcert

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/garm-operator/garm-operator/internal/operator/access"
)

// reviews answers all questions alike.
type reviews struct {
	authorizationclient.SelfSubjectAccessReviewInterface
	allowed bool
	err     error
}

func (r *reviews) Create(context.Context, *authorizationv1.SelfSubjectAccessReview, metav1.CreateOptions) (*authorizationv1.SelfSubjectAccessReview, error) {
	return &authorizationv1.SelfSubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: r.allowed}}, r.err
}

// Rights that are missing stay so until the API server says something else: that it does not answer, or that the operator ends,
// gives none.
func TestMissingUntilTold(t *testing.T) {
	var lines []string
	var shown []access.Right
	o := Options{
		Log:     funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}),
		Missing: func(rights []access.Right) { shown = rights },
	}.withDefaults()
	asked := &reviews{}
	k := &Keeper{options: o, missing: newMissing(o), reviews: asked}
	one := &watched{right: access.Right{Resource: "secrets", Namespace: "ours", Name: "a"}, begun: true}
	for _, step := range []struct {
		name    string
		reviews reviews
		missing bool
		says    string // "" is nothing
	}{
		{"no answer at first", reviews{err: errors.New("down")}, false, "cannot find out"},
		{"not allowed", reviews{}, true, "not allowed to list, patch and watch secrets/a"},
		{"again", reviews{}, true, ""},
		{"no answer", reviews{err: errors.New("down")}, true, "cannot find out"},
		{"allowed", reviews{allowed: true}, false, "are there"},
		{"no answer after that", reviews{err: errors.New("down")}, false, "cannot find out"},
	} {
		*asked, lines = step.reviews, nil
		k.begin(t.Context(), nil, &errgroup.Group{}, &sync.WaitGroup{}, []*watched{one})
		if missing := k.missing.error() != nil; missing != step.missing || one.lacks != step.missing || (len(shown) > 0) != step.missing {
			t.Errorf("%s: missing is %t, lacks is %t, shown are %v", step.name, missing, one.lacks, shown)
		}
		if said := strings.Join(lines, "\n"); !strings.Contains(said, step.says) || (said == "") != (step.says == "") || len(lines) > 1 {
			t.Errorf("%s: the log has %q", step.name, said)
		}
	}
}
