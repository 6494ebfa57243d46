package access

import rbacv1 "k8s.io/api/rbac/v1"

// MetricsRoles returns the ClusterRoles of metrics that are served to some alone: what the operator needs to ask who wants to
// read them, and what a reader needs.
func MetricsRoles() []rbacv1.ClusterRole {
	return []rbacv1.ClusterRole{
		clusterRole("metrics-auth-role", []rbacv1.PolicyRule{
			{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
			{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
		}),
		clusterRole("metrics-reader", []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}),
	}
}
