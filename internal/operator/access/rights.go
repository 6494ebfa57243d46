package access

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
)

// asked is how many questions are asked at once.
const asked = 8

// Right is one thing that the operator does with one object, or with all of a resource.
type Right struct {
	Verb, Group, Resource string
	// Namespace is empty for objects of the whole cluster, Name for all objects.
	Namespace, Name string
}

// Object names the resource, and the object if there is one, as kubectl does: secrets/x, or
// validatingwebhookconfigurations.admissionregistration.k8s.io/x.
func (r Right) Object() string {
	text := strings.TrimSuffix(r.Resource+"."+r.Group, ".")
	if r.Name != "" {
		text += "/" + r.Name
	}
	return text
}

// Missing asks the API server for each right, and returns those that the operator has not, in order.
func Missing(ctx context.Context, reviews authorizationclient.SelfSubjectAccessReviewInterface, rights []Right) ([]Right, error) {
	allowed := make([]bool, len(rights))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(asked)
	for i, r := range rights {
		group.Go(func() (err error) {
			allowed[i], err = may(ctx, reviews, r)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var missing []Right
	for i, r := range rights {
		if !allowed[i] {
			missing = append(missing, r)
		}
	}
	return missing, nil
}

func may(ctx context.Context, reviews authorizationclient.SelfSubjectAccessReviewInterface, r Right) (bool, error) {
	answer, err := reviews.Create(ctx, &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: r.Namespace, Verb: r.Verb, Group: r.Group, Resource: r.Resource, Name: r.Name},
	}}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return answer.Status.Allowed, nil
}

// Describe says of rights what they are, the verbs of one object together: "get and list secrets/a; patch secrets/b".
func Describe(rights []Right) string {
	verbs := map[string][]string{}
	for _, r := range rights {
		verbs[r.Object()] = append(verbs[r.Object()], r.Verb)
	}
	// Objects of which the same is missing stand together.
	objects := map[string][]string{}
	for object, v := range verbs {
		slices.Sort(v)
		key := list(slices.Compact(v))
		objects[key] = append(objects[key], object)
	}
	var parts []string
	for v, o := range objects {
		slices.Sort(o)
		parts = append(parts, v+" "+strings.Join(o, ", "))
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

// list joins words as a sentence does.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
