package pool

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

type conditionType = metav1.Condition

// scopeRetry is how often a Pool looks for an entity that should be at the server.
const scopeRetry = 15 * time.Second

// scope is the entity that a Pool serves.
type scope struct {
	kind    remote.Kind
	id      string
	name    string
	manager *metav1.Condition
}

func (a *actuator) resolveScope(ctx context.Context) error {
	p := a.pass
	ref := p.Object.Spec.GitHubScopeRef
	obj, entity := newScope(ref.Kind)
	fail := func(reason, message string, after time.Duration) error {
		p.Conditions.False(v1beta1.ConditionScopeReference, reason, message)
		return mirror.Wait(reason, message, after)
	}
	if obj == nil {
		message := fmt.Sprintf("spec.githubScopeRef.kind is %q; it must be Enterprise, Organization or Repository", ref.Kind)
		p.Conditions.False(v1beta1.ConditionScopeReference, v1beta1.ReasonFetchingScopeRefFailed, message)
		return mirror.Stop(v1beta1.ReasonInvalidSpec, message)
	}
	if err := p.Client.Get(ctx, client.ObjectKey{Namespace: p.Object.Namespace, Name: ref.Name}, obj); err != nil {
		return fail(v1beta1.ReasonFetchingScopeRefFailed, fmt.Sprintf("%s %q: %v", ref.Kind, ref.Name, err), 0)
	}
	s := entity()
	if s.ID == "" || (s.ControllerID != "" && s.ControllerID != p.ControllerID()) {
		return fail(v1beta1.ReasonScopeRefNotReady, fmt.Sprintf("%s %q is not at the GARM server yet", ref.Kind, ref.Name), 0)
	}
	if !known(p.View, remote.Kind(ref.Kind), s.ID) {
		// It may only be missing from a list. Then the resource does not change when it is back, and wakes nobody.
		return fail(v1beta1.ReasonScopeRefNotReady, fmt.Sprintf("the GARM server shows no %s %q with id %s", ref.Kind, ref.Name, s.ID), scopeRetry)
	}
	a.scope = scope{kind: remote.Kind(ref.Kind), id: s.ID, name: ref.Name, manager: status.Find(obj, v1beta1.ConditionPoolManager)}
	p.Conditions.True(v1beta1.ConditionScopeReference, v1beta1.ReasonFetchingScopeRefSuccess, "the "+ref.Kind+" is at the GARM server")
	return nil
}

func newScope(kind string) (mirror.Object, func() *v1beta1.EntityStatus) {
	switch kind {
	case v1beta1.KindEnterprise:
		e := &v1beta1.Enterprise{}
		return e, func() *v1beta1.EntityStatus { return &e.Status }
	case v1beta1.KindOrganization:
		o := &v1beta1.Organization{}
		return o, func() *v1beta1.EntityStatus { return &o.Status }
	case v1beta1.KindRepository:
		r := &v1beta1.Repository{}
		return r, func() *v1beta1.EntityStatus { return &r.Status }
	default:
		return nil, nil
	}
}

func known(v *remote.View, kind remote.Kind, id string) (found bool) {
	switch kind {
	case remote.KindEnterprise:
		_, found, _ = v.Enterprise(id)
	case remote.KindOrganization:
		_, found, _ = v.Organization(id)
	case remote.KindRepository:
		_, found, _ = v.Repository(id)
	}
	return found
}

func (a *actuator) resolveImage(ctx context.Context) (string, error) {
	p := a.pass
	name := p.Object.Spec.ImageName
	image := &v1beta1.Image{}
	if err := p.Client.Get(ctx, client.ObjectKey{Namespace: p.Object.Namespace, Name: name}, image); err != nil {
		message := fmt.Sprintf("Image %q: %v", name, err)
		p.Conditions.False(v1beta1.ConditionImageReference, v1beta1.ReasonFetchingImageRefFailed, message)
		return "", mirror.Wait(v1beta1.ReasonFetchingImageRefFailed, message, 0)
	}
	p.Conditions.True(v1beta1.ConditionImageReference, v1beta1.ReasonFetchingImageRefSuccess, "the Image is there")
	return image.Spec.Tag, nil
}
