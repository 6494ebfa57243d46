package entity

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
)

// identity is what tells the entities of a kind apart, without case. None of it can be changed at the server.
type identity struct{ endpoint, owner, name string }

func (i identity) key() string { return strings.ToLower(i.owner + "/" + i.name) }

func (i identity) equal(other identity) bool {
	return strings.EqualFold(i.endpoint, other.endpoint) && i.key() == other.key()
}

// keys are the names under which a resource may stand for an entity: that of the spec and that of what it has recorded.
func (a *Adapter[O, R]) keys(o O) []string {
	spec := a.Spec(o)
	keys := []string{identity{owner: spec.Owner, name: spec.Name}.key()}
	if name := a.Status(o).Name; name != "" {
		keys = append(keys, identity{owner: spec.Owner, name: name}.key())
	}
	return slices.Compact(keys)
}

// identityOf returns what a resource stands for: the entity whose id this operator has recorded, for as long as the server
// has it, else what the spec says. The endpoint is empty where nothing tells it.
func (a *actuator[O, R]) identityOf(ctx context.Context, obj O) identity {
	spec, status := a.Spec(obj), a.Status(obj)
	is := identity{endpoint: status.Endpoint, owner: spec.Owner, name: spec.Name}
	if status.ID != "" && status.ControllerID == a.pass.ControllerID() {
		if r, found, _ := a.ByID(a.pass.View, status.ID); found {
			e := a.Entity(&r)
			is.owner, is.name = a.RepoOwner(&r), e.Name
			if e.Endpoint.Name != "" {
				is.endpoint = e.Endpoint.Name
			}
			return is
		}
	}
	if obj.GetUID() == a.pass.Object.GetUID() && a.endpoint != "" {
		is.endpoint = a.endpoint
	}
	if is.endpoint == "" {
		is.endpoint = a.endpointOf(ctx, obj)
	}
	return is
}

func (a *actuator[O, R]) endpointOf(ctx context.Context, obj O) string {
	credential := &v1beta1.GitHubCredential{}
	key := client.ObjectKey{Namespace: obj.GetNamespace(), Name: a.Spec(obj).CredentialsRef.Name}
	if err := a.pass.Client.Get(ctx, key, credential); err != nil {
		return ""
	}
	return credential.Spec.EndpointRef.Name
}

func (a *actuator[O, R]) knownEndpoint() string {
	if a.endpoint != "" {
		return a.endpoint
	}
	return a.status.Endpoint
}

func (a *actuator[O, R]) matches(r *R) bool {
	e := a.Entity(r)
	endpoint := a.knownEndpoint()
	return a.named(r) && (endpoint == "" || e.Endpoint.Name == "" || strings.EqualFold(e.Endpoint.Name, endpoint))
}

func (a *actuator[O, R]) named(r *R) bool {
	return strings.EqualFold(a.Entity(r).Name, a.spec.Name) && strings.EqualFold(a.RepoOwner(r), a.spec.Owner)
}

// namesake says that the recorded id does not count: earlier operators went by the name alone, and recorded ids of what only
// has the same name.
func (a *actuator[O, R]) namesake(r *R) bool {
	return a.status.ControllerID == "" && a.status.Endpoint == "" &&
		(strings.EqualFold(a.Entity(r).Name, a.spec.Name) || a.deleting())
}

func (a *actuator[O, R]) deleting() bool { return !a.pass.Object.GetDeletionTimestamp().IsZero() }

// other stops a resource whose spec says something else than the entity that it stands for is, and tells how to go on.
func (a *actuator[O, R]) other(r *R) error {
	e := a.Entity(r)
	kind := strings.ToLower(a.Name)
	stop := func(format string, args ...any) error {
		return mirror.Stop(v1beta1.ReasonInvalidSpec, fmt.Sprintf(format, args...))
	}
	switch {
	case !strings.EqualFold(e.Name, a.spec.Name):
		return stop("spec.name: by its id this resource stands for the %s %q at the GARM server, which cannot be renamed, but its name is now %q; "+
			"set spec.name to %q, or delete the resource and create it anew for the other %s", kind, e.Name, a.spec.Name, e.Name, kind)
	case !strings.EqualFold(a.RepoOwner(r), a.spec.Owner):
		return stop("spec.owner: by its id this resource stands for the %s %q of %q at the GARM server, which cannot be moved to %q; "+
			"delete the resource and create it anew, with spec.owner %q for this one", kind, e.Name, a.RepoOwner(r), a.spec.Owner, a.RepoOwner(r))
	default:
		return stop("the credential of spec.credentialsRef is for endpoint %q, but this is an object of endpoint %q, which cannot be changed; "+
			"name a credential for that endpoint, or delete the resource and create it anew", a.endpoint, e.Endpoint.Name)
	}
}
