package access

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// aggregate is the prefix of the labels by which a ClusterRole becomes part of the cluster's own admin, edit and view.
const aggregate = "rbac.authorization.k8s.io/aggregate-to-"

// Roles returns the operator's roles without the prefix of the installation: "manager-role" for the namespaces that it
// works in, as a Role and, for all namespaces, as a ClusterRole; and those that every installation needs.
func Roles() []any {
	return []any{
		role("manager-role", Watched()),
		clusterRole("manager-role", Everywhere()),
		role("leader-election-role", LeaderElection()),
		role("certificates-role", Certificates()),
		clusterRole("webhook-role", Cluster()),
	}
}

// UserRoles returns a ClusterRole for editors and one for viewers of each kind, which are part of the cluster's own roles.
func UserRoles() []rbacv1.ClusterRole {
	var roles []rbacv1.ClusterRole
	for _, r := range Resources() {
		editor := clusterRole(r.Singular+"-editor-role", r.Editor())
		editor.Labels = map[string]string{aggregate + "admin": "true", aggregate + "edit": "true"}
		viewer := clusterRole(r.Singular+"-viewer-role", r.Viewer())
		viewer.Labels = map[string]string{aggregate + "view": "true"}
		roles = append(roles, editor, viewer)
	}
	return roles
}

func role(name string, rules []rbacv1.PolicyRule) rbacv1.Role {
	return rbacv1.Role{TypeMeta: typeMeta("Role"), ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
}

func clusterRole(name string, rules []rbacv1.PolicyRule) rbacv1.ClusterRole {
	return rbacv1.ClusterRole{TypeMeta: typeMeta("ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}
