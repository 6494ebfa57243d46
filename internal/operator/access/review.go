package access

import (
	"context"
	"fmt"
	"slices"
	"strings"

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

// deniedIn asks for each cached resource to list and to watch it, which is what a cache does.
func deniedIn(ctx context.Context, reviews authorizationclient.SelfSubjectAccessReviewInterface, namespace string) ([]string, error) {
	var rights []Right
	for _, rule := range Watched() {
		if !slices.Contains(rule.Verbs, "list") {
			continue
		}
		for _, resource := range rule.Resources {
			for _, verb := range []string{"list", "watch"} {
				rights = append(rights, Right{Verb: verb, Group: rule.APIGroups[0], Resource: resource, Namespace: namespace})
			}
		}
	}
	missing, err := Missing(ctx, reviews, rights)
	var denied []string
	for _, r := range missing {
		denied = append(denied, r.Object())
	}
	return slices.Compact(denied), err
}
