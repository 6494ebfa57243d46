// Package credential mirrors GitHubCredentials.
package credential

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// Fields that can differ.
const (
	fieldDescription = "description"
	fieldSecret      = "secretRef"
)

type actuator struct {
	pass   *mirror.Pass[*v1beta1.GitHubCredential]
	secret *refs.Secret
	value  []byte
	sent   bool
	seen   string
}

func (a *actuator) Resolve(ctx context.Context) error {
	secretErr := a.resolveSecret(ctx)
	if err := a.resolveEndpoint(ctx); err != nil {
		return err
	}
	return secretErr
}

func (a *actuator) resolveSecret(ctx context.Context) error {
	p := a.pass
	secret, err := refs.FindSecret(ctx, p.Client, p.Object.Namespace, p.Object.Spec.SecretRef)
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

func (a *actuator) resolveEndpoint(ctx context.Context) error {
	p := a.pass
	name := p.Object.Spec.EndpointRef.Name
	fail := func(message string) error {
		p.Conditions.False(v1beta1.ConditionGithubEndpointReference, v1beta1.ReasonFetchingGithubEndpointRefFailed, message)
		return mirror.Wait(v1beta1.ReasonFetchingGithubEndpointRefFailed, message, 0)
	}
	endpoint := &v1beta1.GitHubEndpoint{}
	if err := p.Client.Get(ctx, client.ObjectKey{Namespace: p.Object.Namespace, Name: name}, endpoint); err != nil {
		return fail(fmt.Sprintf("GitHubEndpoint %q: %v", name, err))
	}
	if _, found, _ := p.View.Endpoint(name); !found {
		return fail(fmt.Sprintf("GitHubEndpoint %q is not at the GARM server yet", name))
	}
	p.Conditions.True(v1beta1.ConditionGithubEndpointReference, v1beta1.ReasonFetchingGithubEndpointRefSuccess, "the endpoint is at the GARM server")
	return nil
}

// Recorded returns the id in the status, unless another controller drew it.
func (a *actuator) Recorded() string {
	s := a.pass.Object.Status
	if s.ID <= 0 || (s.ControllerID != "" && s.ControllerID != a.pass.ControllerID()) {
		return ""
	}
	return remote.CredentialsID(uint(s.ID))
}

// Observe goes by name alone: servers keep names unique for each user, and small ids are soon drawn again.
func (a *actuator) Observe(context.Context) (*garm.Credentials, error) {
	a.seen = a.Recorded()
	name := a.pass.Object.Name
	found, synced := a.pass.View.CredentialsNamed(name)
	deleting := !a.pass.Object.DeletionTimestamp.IsZero()
	switch {
	case !synced:
		return nil, mirror.Again(time.Second)
	case deleting:
		return a.own(found), nil
	case len(found) > 1:
		return nil, mirror.Stop(v1beta1.ReasonAmbiguous, fmt.Sprintf("the GARM server has %d credentials named %q", len(found), name))
	case len(found) == 0:
		return nil, nil
	}
	c := &found[0]
	if other := a.other(c); other != "" {
		return nil, mirror.Stop(v1beta1.ReasonInvalidSpec, other)
	}
	a.seen = remote.CredentialsID(c.ID)
	return c, nil
}

// own returns which of the credentials that have the name go with the resource: those that it has recorded, else those
// that a create without an answer may have made. Others of its name stay.
func (a *actuator) own(found []garm.Credentials) *garm.Credentials {
	for i := range found {
		c := &found[i]
		if remote.CredentialsID(c.ID) == a.Recorded() {
			return c
		}
		if a.begun() && a.other(c) == "" {
			a.seen = remote.CredentialsID(c.ID)
			return c
		}
	}
	return nil
}

// begun says whether a create was begun at the present server of which no answer is recorded.
func (a *actuator) begun() bool {
	s := a.pass.Object.Status
	return s.ID == 0 && s.ControllerID != "" && s.ControllerID == a.pass.ControllerID()
}

// other says why credentials of the right name are not those that the resource stands for; "" if they are.
func (a *actuator) other(c *garm.Credentials) string {
	spec := a.pass.Object.Spec
	endpoint, auth := spec.EndpointRef.Name, string(spec.AuthType)
	recorded := remote.CredentialsID(c.ID) == a.Recorded()
	switch moved, changed := !strings.EqualFold(c.Endpoint.Name, endpoint), c.AuthType != "" && c.AuthType != auth; {
	case moved && recorded:
		return fmt.Sprintf("spec.endpointRef: the credentials %q at the GARM server are for endpoint %q, and cannot be moved to %q; "+
			"set spec.endpointRef.name to %q, or delete the resource and create it anew", c.Name, c.Endpoint.Name, endpoint, c.Endpoint.Name)
	case moved:
		return fmt.Sprintf("the GARM server has credentials named %q for endpoint %q already, and keeps names unique; use another name than for %q",
			c.Name, c.Endpoint.Name, endpoint)
	case changed && recorded:
		return fmt.Sprintf("spec.authType: the credentials %q at the GARM server have auth type %q, which cannot be changed to %q; "+
			"set spec.authType to %q, or delete the resource and create it anew", c.Name, c.AuthType, auth, c.AuthType)
	case changed:
		return fmt.Sprintf("the GARM server has credentials named %q with auth type %q already; it cannot be changed to %q", c.Name, c.AuthType, auth)
	}
	return ""
}

// Gone asks by id where there is one. What has the id under another name is not what was recorded: it was drawn again.
func (a *actuator) Gone(ctx context.Context) (bool, error) {
	view := a.pass.View
	if a.seen == "" && !a.begun() {
		return true, nil
	}
	if a.seen == "" {
		err := view.Relist(ctx, remote.KindCredentials, time.Now())
		found, _ := view.CredentialsNamed(a.pass.Object.Name)
		return err == nil && a.own(found) == nil, err
	}
	gone, err := view.ConfirmGone(ctx, remote.KindCredentials, a.seen)
	if gone || err != nil {
		return gone, err
	}
	found, _ := view.CredentialsNamed(a.pass.Object.Name)
	return !slices.ContainsFunc(found, func(c garm.Credentials) bool { return remote.CredentialsID(c.ID) == a.seen }), nil
}

func (a *actuator) Create(ctx context.Context) (*garm.Credentials, error) {
	p := a.pass
	if err := a.load(ctx); err != nil {
		return nil, err
	}
	params := garm.CreateCredentialsParams{
		Name: p.Object.Name, Description: p.Object.Spec.Description, Endpoint: p.Object.Spec.EndpointRef.Name, AuthType: string(p.Object.Spec.AuthType),
	}
	params.PAT, params.App = a.login()
	// Should no answer come, the credentials are known by this to be the resource's once that is deleted.
	p.Object.Status.ID, p.Object.Status.ControllerID = 0, p.ControllerID()
	p.Event(corev1.EventTypeNormal, mirror.EventCreating, "creating the credentials at the GARM server")
	c, err := p.View.Writer().CreateCredentials(ctx, params)
	if garm.KindOf(err) == garm.KindConflict {
		_ = p.View.Relist(ctx, remote.KindCredentials, time.Now())
	}
	if err != nil {
		return nil, err
	}
	a.seen, a.sent = remote.CredentialsID(c.ID), true
	p.MarkSecret(a.mark(a.secret, a.seen))
	return &c, nil
}

func (a *actuator) load(ctx context.Context) (err error) {
	if a.value == nil {
		a.value, err = a.secret.Read(ctx, a.pass.Live)
	}
	return err
}

func (a *actuator) login() (*garm.PAT, *garm.App) {
	spec := a.pass.Object.Spec
	if spec.AuthType == garm.AuthTypeApp {
		return nil, &garm.App{AppID: spec.AppID, InstallationID: spec.InstallationID, PrivateKey: a.value}
	}
	return &garm.PAT{OAuth2Token: strings.TrimSpace(string(a.value))}, nil
}

// Diff compares what the user has set. The server shows no secret, so what was sent last decides.
func (a *actuator) Diff(c *garm.Credentials) []string {
	var fields []string
	if a.pass.Object.Spec.Description != c.Description {
		fields = append(fields, fieldDescription)
	}
	if a.secret != nil && !a.sent && !a.has(c) {
		fields = append(fields, fieldSecret)
	}
	return fields
}

// has says whether the secret was sent to these credentials. The marker alone does not tell: another server draws the same ids.
func (a *actuator) has(c *garm.Credentials) bool {
	id := remote.CredentialsID(c.ID)
	return id == a.Recorded() && a.mark(a.secret, id) == a.pass.SecretMarker()
}

func (a *actuator) Update(ctx context.Context, c *garm.Credentials, fields []string) (*garm.Credentials, error) {
	var params garm.UpdateCredentialsParams
	for _, f := range fields {
		switch f {
		case fieldDescription:
			params.Description = &a.pass.Object.Spec.Description
		case fieldSecret:
			if err := a.load(ctx); err != nil {
				return nil, err
			}
			params.PAT, params.App = a.login()
		}
	}
	updated, err := a.pass.View.Writer().UpdateCredentials(ctx, c.ID, params)
	if err != nil {
		return nil, err
	}
	if params.PAT != nil || params.App != nil {
		a.sent = true
		a.pass.MarkSecret(a.mark(a.secret, remote.CredentialsID(c.ID)))
	}
	return &updated, nil
}

func (a *actuator) Delete(ctx context.Context, c *garm.Credentials) error {
	return a.pass.View.Writer().DeleteCredentials(ctx, c.ID)
}

// mark ties the version of the secret, and what else is sent with it, to the credentials it was sent to.
func (a *actuator) mark(s *refs.Secret, id string) string {
	mark := id + "/" + s.Marker()
	if spec := a.pass.Object.Spec; spec.AuthType == garm.AuthTypeApp {
		mark += fmt.Sprintf("/%d/%d", spec.AppID, spec.InstallationID)
	}
	return mark
}
