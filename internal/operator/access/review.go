package access

import (
	"context"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
)

// DeniedError says what the operator may not read although it cannot work without it.
type DeniedError struct {
	// Namespace is where it may not; empty stands for all namespaces.
	Namespace string
	// Resources are the denied ones, such as "pools.garm-operator.mercedes-benz.com".
	Resources []string
	// Own is the namespace that the operator runs in, where the shipped Role is.
	Own string
}

// Error names what is denied and both ways out.
func (e *DeniedError) Error() string {
	if e.Namespace != "" {
		return fmt.Sprintf("not allowed to list and watch %s in the namespace %s: bind the Role garm-operator-manager-role there "+
			"(kustomize: config/rbac/namespace; chart: add the namespace to watchNamespaces), or take the namespace out of --operator-watch-namespace",
			strings.Join(e.Resources, ", "), e.Namespace)
	}
	return fmt.Sprintf("not allowed to list and watch %s in all namespaces, which is what an empty --operator-watch-namespace asks for: "+
		"set --operator-watch-namespace=%s, or bind the ClusterRole garm-operator-manager-role with a ClusterRoleBinding "+
		"(kustomize: the component config/components/all-namespaces; chart: watchAllNamespaces: true)", strings.Join(e.Resources, ", "), e.Own)
}

// Check asks the API server whether the operator may fill its caches in the namespaces, empty for all. It returns a
// *DeniedError for the first namespace where it may not, and any other error where the API server did not say; own is
// the operator's namespace, for the error's advice.
func Check(ctx context.Context, reviews authorizationclient.SelfSubjectAccessReviewInterface, namespaces []string, own string) error {
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		denied, err := deniedIn(ctx, reviews, namespace)
		if err != nil {
			return fmt.Errorf("ask the API server what is allowed: %w", err)
		}
		if len(denied) > 0 {
			return &DeniedError{Namespace: namespace, Resources: denied, Own: own}
		}
	}
	return nil
}

// deniedIn asks for each cached resource, first to list and then to watch it, which is what a cache does.
func deniedIn(ctx context.Context, reviews authorizationclient.SelfSubjectAccessReviewInterface, namespace string) ([]string, error) {
	var denied []string
	for _, rule := range Watched() {
		if !slices.Contains(rule.Verbs, "list") {
			continue
		}
		for _, resource := range rule.Resources {
			for _, verb := range []string{"list", "watch"} {
				review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
					ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: rule.APIGroups[0], Resource: resource},
				}}
				answer, err := reviews.Create(ctx, review, metav1.CreateOptions{})
				if err != nil {
					return nil, err
				}
				if !answer.Status.Allowed {
					denied = append(denied, strings.TrimSuffix(resource+"."+rule.APIGroups[0], "."))
					break
				}
			}
		}
	}
	return denied, nil
}
