package entity

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
)

// Fields that can differ.
const (
	fieldCredentials   = "credentialsRef"
	fieldBalancer      = "poolBalancerType"
	fieldWebhookSecret = "webhookSecretRef"
)

type actuator[O mirror.Object, R any] struct {
	*Adapter[O, R]
	relations relations[O]
	pass      *mirror.Pass[O]
	tries     *failedTries
	spec      Spec
	status    *v1beta1.EntityStatus

	endpoint string
	secret   *refs.Secret
	value    []byte
	sent     bool
	made     bool
	seen     string
	// foreign says that the recorded id is another entity's, so that it does not count.
	foreign bool
}

func (a *actuator[O, R]) Resolve(ctx context.Context) error {
	secretErr := a.resolveSecret(ctx)
	if err := a.resolveCredentials(ctx); err != nil && secretErr == nil {
		return err
	}
	return secretErr
}

func (a *actuator[O, R]) resolveSecret(ctx context.Context) error {
	p := a.pass
	secret, err := refs.FindSecret(ctx, p.Client, p.Object.GetNamespace(), &a.spec.WebhookSecret)
	if err == nil && a.mark(secret, a.Recorded()) != p.SecretMarker() {
		a.value, err = secret.Read(ctx, p.Live)
	}
	if err != nil {
		p.Conditions.False(v1beta1.ConditionWebhookSecretReference, v1beta1.ReasonFetchingWebhookSecretRefFailed, err.Error())
		return mirror.Wait(v1beta1.ReasonFetchingWebhookSecretRefFailed, err.Error(), refs.Retry(err))
	}
	a.secret = secret
	p.Conditions.True(v1beta1.ConditionWebhookSecretReference, v1beta1.ReasonFetchingWebhookSecretRefSuccess, "")
	return nil
}

func (a *actuator[O, R]) resolveCredentials(ctx context.Context) error {
	p := a.pass
	name := a.spec.CredentialsRef.Name
	fail := func(format string, args ...any) error {
		message := fmt.Sprintf(format, args...)
		p.Conditions.False(v1beta1.ConditionGithubCredentialsReference, v1beta1.ReasonGithubCredentialsRefFailed, message)
		return mirror.Wait(v1beta1.ReasonGithubCredentialsRefFailed, message, 0)
	}
	credential := &v1beta1.GitHubCredential{}
	if err := p.Client.Get(ctx, client.ObjectKey{Namespace: p.Object.GetNamespace(), Name: name}, credential); err != nil {
		return fail("GitHubCredential %q: %v", name, orMissing(err))
	}
	known, _ := p.View.CredentialsNamed(name)
	for _, c := range known {
		if strings.EqualFold(c.Endpoint.Name, credential.Spec.EndpointRef.Name) {
			a.endpoint = c.Endpoint.Name
			p.Conditions.True(v1beta1.ConditionGithubCredentialsReference, v1beta1.ReasonGithubCredentialsRefSuccess, "")
			return nil
		}
	}
	return fail("GitHubCredential %q is not at the GARM server yet", name)
}

// Recorded returns the id in the status, unless another controller drew it.
func (a *actuator[O, R]) Recorded() string {
	if a.foreign || a.elsewhere() {
		return ""
	}
	return a.status.ID
}

// elsewhere says that what the resource stood for is at another server.
func (a *actuator[O, R]) elsewhere() bool {
	return a.status.ControllerID != "" && a.status.ControllerID != a.pass.ControllerID()
}

func (a *actuator[O, R]) Observe(ctx context.Context) (*R, error) {
	a.seen = a.Recorded()
	r, found, synced := a.ByID(a.pass.View, a.seen)
	switch {
	case !synced:
		return nil, mirror.Again(time.Second)
	case found && a.matches(&r):
		return &r, nil
	case found && a.namesake(&r):
		a.foreign, a.seen = true, ""
	case found && a.deleting():
		return &r, nil
	case found:
		a.status.Name = a.Entity(&r).Name
		return nil, a.other(&r)
	}
	return a.byKey(ctx)
}

// byKey looks for the entity by its natural key. One that takes the place of a recorded one counts only once the server has
// said that that is gone. A resource of another server that is being deleted has none here: what has its name is somebody
// else's.
func (a *actuator[O, R]) byKey(ctx context.Context) (*R, error) {
	endpoint := a.knownEndpoint()
	if endpoint == "" || (a.deleting() && (a.renamed() || a.elsewhere())) {
		return nil, nil
	}
	found, synced := a.ByKey(a.pass.View, endpoint, a.spec)
	switch {
	case !synced:
		return nil, mirror.Again(time.Second)
	case len(found) > 1:
		return nil, mirror.Stop(v1beta1.ReasonAmbiguous, fmt.Sprintf("the GARM server has %d of this name at endpoint %q", len(found), endpoint))
	case len(found) == 0:
		return nil, nil
	}
	if a.seen != "" {
		if gone, err := a.pass.View.ConfirmGone(ctx, a.Remote, a.seen); err != nil {
			return nil, err
		} else if !gone {
			return nil, mirror.Again(time.Second)
		}
	}
	a.seen = a.Entity(&found[0]).ID
	return &found[0], nil
}

// renamed says that the spec has another name than what the resource stood for.
func (a *actuator[O, R]) renamed() bool {
	return a.status.Name != "" && !strings.EqualFold(a.status.Name, a.spec.Name)
}

// Gone asks by id where there is one. A create may have been carried out without an answer once it has been begun, which
// the endpoint in the status tells.
func (a *actuator[O, R]) Gone(ctx context.Context) (bool, error) {
	if a.seen != "" {
		return a.pass.View.ConfirmGone(ctx, a.Remote, a.seen)
	}
	endpoint := a.knownEndpoint()
	if endpoint == "" || a.renamed() || a.elsewhere() {
		return true, nil
	}
	if err := a.pass.View.Relist(ctx, a.Remote, time.Now()); err != nil {
		return false, err
	}
	found, _ := a.ByKey(a.pass.View, endpoint, a.spec)
	return len(found) == 0, nil
}

func (a *actuator[O, R]) Create(ctx context.Context) (*R, error) {
	p := a.pass
	if a.value == nil {
		value, err := a.secret.Read(ctx, p.Live)
		if err != nil {
			return nil, err
		}
		a.value = value
	}
	// Should no answer come, the entity is found by this once the resource is deleted.
	a.status.ID, a.status.ControllerID, a.status.Endpoint = "", p.ControllerID(), a.endpoint
	p.Event(corev1.EventTypeNormal, mirror.EventCreating, "creating %s at the GARM server", a.spec.Name)
	r, err := a.Adapter.Create(ctx, p.View.Writer(), garm.CreateEntityParams{
		Owner: a.spec.Owner, Name: a.spec.Name, CredentialsName: a.spec.CredentialsRef.Name,
		WebhookSecret: string(a.value), PoolBalancerType: string(a.spec.Balancer),
	})
	if garm.KindOf(err) == garm.KindConflict {
		_ = p.View.Relist(ctx, a.Remote, time.Now())
	}
	if err != nil {
		return nil, err
	}
	a.seen, a.sent, a.made = a.Entity(&r).ID, true, true
	p.MarkSecret(a.mark(a.secret, a.seen))
	return &r, nil
}

// Diff compares what the user has set.
func (a *actuator[O, R]) Diff(r *R) []string {
	e := a.Entity(r)
	var fields []string
	if !strings.EqualFold(e.CredentialsName, a.spec.CredentialsRef.Name) {
		fields = append(fields, fieldCredentials)
	}
	if want := a.spec.Balancer; want != "" && string(want) != balancer(e.PoolBalancerType) {
		fields = append(fields, fieldBalancer)
	}
	if a.secret != nil && !a.sent && a.mark(a.secret, e.ID) != a.pass.SecretMarker() {
		fields = append(fields, fieldWebhookSecret)
	}
	return fields
}

func balancer(value string) string {
	if value == "" {
		return garm.BalancerRoundRobin
	}
	return value
}

func (a *actuator[O, R]) Update(ctx context.Context, r *R, fields []string) (*R, error) {
	var params garm.UpdateEntityParams
	for _, f := range fields {
		switch f {
		case fieldCredentials:
			params.CredentialsName = a.spec.CredentialsRef.Name
		case fieldBalancer:
			params.PoolBalancerType = string(a.spec.Balancer)
		case fieldWebhookSecret:
			if a.value == nil {
				value, err := a.secret.Read(ctx, a.pass.Live)
				if err != nil {
					return nil, err
				}
				a.value = value
			}
			params.WebhookSecret = string(a.value)
		}
	}
	id := a.Entity(r).ID
	updated, err := a.Adapter.Update(ctx, a.pass.View.Writer(), id, params)
	if err != nil {
		return nil, err
	}
	if params.WebhookSecret != "" {
		a.sent = true
		a.pass.MarkSecret(a.mark(a.secret, id))
	}
	return &updated, nil
}

func (a *actuator[O, R]) Delete(ctx context.Context, r *R) error {
	return a.Adapter.Delete(ctx, a.pass.View.Writer(), a.Entity(r).ID)
}

func (a *actuator[O, R]) Project(r *R) {
	e := a.Entity(r)
	a.status.ID, a.status.Name = e.ID, e.Name
	a.status.ControllerID = a.pass.ControllerID()
	if e.Endpoint.Name != "" {
		a.status.Endpoint = e.Endpoint.Name
	} else if a.endpoint != "" {
		a.status.Endpoint = a.endpoint
	}
}

// Attend looks after the webhook, and tells whether the pool manager runs.
func (a *actuator[O, R]) Attend(ctx context.Context, r *R) error {
	both := mirror.Join(mirror.Classify(mirror.Updating, a.poolManager(r)), a.attendWebhook(ctx, r))
	return &both
}

// mark ties the version of the secret to the object it was sent to.
func (a *actuator[O, R]) mark(s *refs.Secret, id string) string { return id + "/" + s.Marker() }
