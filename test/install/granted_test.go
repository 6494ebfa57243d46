package install_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
	"github.com/garm-operator/garm-operator/internal/dev/wait"
	"github.com/garm-operator/garm-operator/internal/operator/access"
)

// permission is one thing that a role allows: a verb on a resource, in one namespace or in all, of one name or of any.
type permission struct {
	namespace, group, resource, verb, name string
}

func (p permission) String() string {
	text := p.verb + " " + strings.TrimSuffix(p.resource+"."+p.group, ".")
	if p.name != "" {
		text += " " + p.name
	}
	return text + " in " + cmp.Or(p.namespace, "all namespaces")
}

// allows says whether a request is one of those.
func (p permission) allows(e controlplane.AuditEvent) bool {
	resource := e.Object.Resource
	if e.Object.Subresource != "" {
		resource += "/" + e.Object.Subresource
	}
	return e.Object.Group == p.group && resource == p.resource && e.Verb == p.verb &&
		(p.name == "" || e.Object.Name == p.name) && (p.namespace == "" || e.Object.Namespace == p.namespace)
}

// granted returns what the installed roles allow the operator.
func (i *installation) granted() []permission {
	i.t.Helper()
	bindings, cluster := &rbacv1.RoleBindingList{}, &rbacv1.ClusterRoleBindingList{}
	for _, list := range []client.ObjectList{bindings, cluster} {
		if err := i.Kube.List(i.ctx, list); err != nil {
			i.t.Fatal(err)
		}
	}
	var all []permission
	add := func(namespace string, subjects []rbacv1.Subject, ref rbacv1.RoleRef) {
		if !slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
			return s.Kind == rbacv1.ServiceAccountKind && "system:serviceaccount:"+s.Namespace+":"+s.Name == account
		}) {
			return
		}
		for _, rule := range i.rules(namespace, ref) {
			all = append(all, permissions(namespace, rule)...)
		}
	}
	for _, b := range bindings.Items {
		add(b.Namespace, b.Subjects, b.RoleRef)
	}
	for _, b := range cluster.Items {
		add("", b.Subjects, b.RoleRef)
	}
	return all
}

func (i *installation) rules(namespace string, ref rbacv1.RoleRef) []rbacv1.PolicyRule {
	i.t.Helper()
	role, clusterRole := &rbacv1.Role{}, &rbacv1.ClusterRole{}
	var err error
	if ref.Kind == "Role" {
		err = i.Kube.Get(i.ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, role)
	} else {
		err = i.Kube.Get(i.ctx, client.ObjectKey{Name: ref.Name}, clusterRole)
	}
	if err != nil {
		i.t.Fatal(err)
	}
	return append(role.Rules, clusterRole.Rules...)
}

func permissions(namespace string, rule rbacv1.PolicyRule) []permission {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	var all []permission
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				for _, name := range names {
					all = append(all, permission{namespace, group, resource, verb, name})
				}
			}
		}
	}
	return all
}

// unused returns the permissions that no request made use of, and the requests that were refused. A request is ascribed to the
// narrowest permissions that allow it.
func unused(granted []permission, events []controlplane.AuditEvent) (idle []permission, refused []controlplane.AuditEvent) {
	used := map[permission]bool{}
	for _, e := range events {
		if e.Forbidden {
			if e.Verb == "list" && e.Object.Namespace == "" {
				continue // whether it sees all that may be stored in an old version, it learns by asking
			}
			refused = append(refused, e)
			continue
		}
		var named, general []permission
		for _, p := range granted {
			switch {
			case !p.allows(e):
			case p.name != "":
				named = append(named, p)
			default:
				general = append(general, p)
			}
		}
		if len(named) > 0 {
			general = named
		}
		for _, p := range general {
			used[p] = true
		}
	}
	for _, p := range granted {
		if !used[p] {
			idle = append(idle, p)
		}
	}
	return idle, refused
}

// storeOld leaves an Image in a namespace and has the definitions say that resources may be stored in their old version, as
// after an upgrade from the known operator.
func (i *installation) storeOld(namespaces ...string) {
	i.t.Helper()
	for _, name := range namespaces {
		image := i.Image("old", "ubuntu-20.04")
		image.Namespace = name
		if err := i.Apply(i.ctx, image); err != nil {
			i.t.Fatal(err)
		}
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"storedVersions":["v1alpha1","v1beta1"]}}`))
	for _, kind := range access.Resources() {
		definition := &unstructured.Unstructured{}
		definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		definition.SetName(kind.Plural + "." + v1beta1.Group)
		if !kind.Old {
			continue
		}
		// Whatever an earlier installation has noted there of its namespaces.
		if err := i.Kube.Patch(i.ctx, definition, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":null}}`))); err != nil {
			i.t.Fatal(err)
		}
		if err := i.Kube.Status().Patch(i.ctx, definition, patch); err != nil {
			i.t.Fatal(err)
		}
	}
}

// requests returns what the operator has asked of the API server in this test.
func (i *installation) requests() []controlplane.AuditEvent {
	i.t.Helper()
	all, err := i.plane.AuditEvents()
	if err != nil {
		i.t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(e controlplane.AuditEvent) bool { return e.User != account || e.Time.Before(i.begun) })
}

const notedOnly = "only an operator that works in some namespaces notes there which of them hold nothing old; the versions do not differ, so there is no call to trust"

// rare are the permissions that the operator has for what these tests do not bring about.
var rare = map[string]string{
	"patch events": "an event that comes again soon is counted up",
	"patch customresourcedefinitions.apiextensions.k8s.io images.garm-operator.mercedes-benz.com":  notedOnly,
	"patch customresourcedefinitions.apiextensions.k8s.io runners.garm-operator.mercedes-benz.com": notedOnly,
}

// reason returns why a permission that was not used is granted, if it is for what these tests do not bring about.
func reason(p permission) string {
	if p.verb == "list" {
		return "API servers before 1.34, and those without the feature, do not stream what is there at the begin of a watch"
	}
	text, _, _ := strings.Cut(p.String(), " in ")
	return rare[text]
}

// endedWith stops an operator and proves that it was refused nothing and had no right in vain.
func (i *installation) endedWith(o *operator) {
	i.t.Helper()
	granted := i.granted()
	if err := o.stop(); err != nil {
		i.t.Fatal(err)
	}
	i.eventually(func() error { // the end of a watch is recorded when its connection has ended
		idle, refused := unused(granted, i.requests())
		if len(refused) > 0 {
			return wait.Final(fmt.Errorf("refused: %+v", refused))
		}
		var vain []string
		for _, p := range idle {
			if reason(p) == "" {
				vain = append(vain, p.String())
			}
		}
		if len(vain) > 0 {
			return fmt.Errorf("granted but not used:\n%s", strings.Join(vain, "\n"))
		}
		return nil
	})
}
