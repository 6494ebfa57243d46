package access

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// Names that rules are bound to; manifests use the same.
const (
	// CertificateSecret holds the certificate that the operator makes itself, in its own namespace. It is not the Secret of the
	// known operator, "webhook-server-cert", which cert-manager keeps.
	CertificateSecret = "garm-operator-webhook-cert" //nolint:gosec // the name of a Secret, not one
	// WebhookConfiguration is the installed name of the validating webhooks.
	WebhookConfiguration = "garm-operator-validating-webhook-configuration"
	// Lease is the name of the leader's lease; two releases side by side must use the same.
	Lease = "b608d8b3.mercedes-benz.com"
)

var (
	read  = []string{"get", "list", "watch"}
	write = []string{"patch", "update"}
	// cached is what a cache does, and all that it takes to read from one.
	cached = []string{"list", "watch"}
	// cachedPatch is for objects that are somebody else's but for a field or two.
	cachedPatch = []string{"list", "watch", "patch"}
)

// Watched returns what the operator does in each namespace that it works in. Finalizers and owners of resources are part of
// patches; the operator makes nothing the owner of anything, so it needs no right on the subresource finalizers.
func Watched() []rbacv1.PolicyRule {
	group := []string{v1beta1.Group}
	all := func(Resource) bool { return true }
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: read},
		// Whether the namespace is being deleted, and an Image may go although it is in use. A role in a namespace allows to see that one.
		{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get"}},
		{APIGroups: group, Resources: plurals("", all), Verbs: cached},
		{APIGroups: group, Resources: plurals("", func(r Resource) bool { return r.Finalizer || r.Old }), Verbs: []string{"patch"}},
		{APIGroups: group, Resources: plurals("", func(r Resource) bool { return r.Made }), Verbs: []string{"create", "delete"}},
		{APIGroups: group, Resources: plurals("/status", func(r Resource) bool { return r.Status }), Verbs: []string{"patch"}},
	}
}

// LeaderElection returns what several replicas need in the namespace that they run in. Names cannot restrict create.
func LeaderElection() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create"}},
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{Lease}, Verbs: []string{"get", "update"}},
	}
}

// Certificates returns what keeping the certificate of the webhooks takes in the operator's namespace. Names cannot
// restrict create.
func Certificates() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{CertificateSecret}, Verbs: cachedPatch},
	}
}

// Everywhere returns what the operator does when it works in all namespaces: beside the work in each, saying which stored versions
// are left once old objects are rewritten, which nobody can say who sees some namespaces only.
func Everywhere() []rbacv1.PolicyRule {
	return append(Watched(), rbacv1.PolicyRule{
		APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions/status"}, ResourceNames: definitions(), Verbs: []string{"patch"},
	})
}

// Cluster returns what the operator does with objects of the whole cluster, which it watches by name: putting the
// authority of its certificates into its webhooks and definitions, and noting in which namespaces nothing old is stored.
func Cluster() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{
			APIGroups: []string{"admissionregistration.k8s.io"}, Resources: []string{"validatingwebhookconfigurations"},
			ResourceNames: []string{WebhookConfiguration}, Verbs: cachedPatch,
		},
		{
			APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"},
			ResourceNames: definitions(), Verbs: slices.Concat([]string{"get"}, cachedPatch),
		},
	}
}

// definitions are the names of the custom resource definitions that have an old version.
func definitions() []string {
	return plurals("."+v1beta1.Group, func(r Resource) bool { return r.Old })
}

// Editor returns the rules of a user who keeps resources of a kind, Viewer those of one who only looks.
func (r Resource) Editor() []rbacv1.PolicyRule {
	verbs := []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	rules := []rbacv1.PolicyRule{{APIGroups: []string{v1beta1.Group}, Resources: []string{r.Plural}, Verbs: verbs}}
	if r.Scale {
		rules = append(rules, rbacv1.PolicyRule{
			APIGroups: []string{v1beta1.Group}, Resources: []string{r.Plural + "/scale"}, Verbs: slices.Concat([]string{"get"}, write),
		})
	}
	return append(rules, r.status()...)
}

// Viewer returns the rules of a user who looks at resources of a kind.
func (r Resource) Viewer() []rbacv1.PolicyRule {
	return append([]rbacv1.PolicyRule{{APIGroups: []string{v1beta1.Group}, Resources: []string{r.Plural}, Verbs: read}}, r.status()...)
}

func (r Resource) status() []rbacv1.PolicyRule {
	if !r.Status {
		return nil
	}
	return []rbacv1.PolicyRule{{APIGroups: []string{v1beta1.Group}, Resources: []string{r.Plural + "/status"}, Verbs: []string{"get"}}}
}
