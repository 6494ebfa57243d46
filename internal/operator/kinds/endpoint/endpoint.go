// Package endpoint mirrors GitHubEndpoints.
package endpoint

import (
	"bytes"
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// builtIn is the endpoint that a server makes by itself. Old servers neither change nor delete it.
const builtIn = "github.com"

// Fields that can differ.
const (
	fieldDescription = "description"
	fieldAPIURL      = "apiBaseUrl"
	fieldUploadURL   = "uploadBaseUrl"
	fieldBaseURL     = "baseUrl"
	fieldCABundle    = "caCertBundleSecretRef"
)

type actuator struct {
	pass    *mirror.Pass[*v1beta1.GitHubEndpoint]
	bundles *bundles
	bundle  []byte
	secret  *refs.Secret
}

func (a *actuator) Resolve(ctx context.Context) error {
	p := a.pass
	ref := p.Object.Spec.CACertBundleSecretRef
	if !ref.IsSet() {
		p.Conditions.Drop(v1beta1.ConditionWebhookSecretReference)
		return nil
	}
	secret, err := refs.FindSecret(ctx, p.Client, p.Object.Namespace, ref)
	if err == nil && (secret.Marker() != p.SecretMarker() || a.exchanged(secret)) {
		a.bundle, err = secret.Read(ctx, p.Live)
	}
	if err != nil {
		p.Conditions.False(v1beta1.ConditionWebhookSecretReference, v1beta1.ReasonFetchingWebhookSecretRefFailed, err.Error())
		return mirror.Wait(v1beta1.ReasonFetchingWebhookSecretRefFailed, err.Error(), refs.Retry(err))
	}
	a.secret = secret
	p.Conditions.True(v1beta1.ConditionWebhookSecretReference, v1beta1.ReasonFetchingWebhookSecretRefSuccess, "")
	return nil
}

// exchanged says that the server has a bundle that this process has not compared with the Secret yet.
func (a *actuator) exchanged(s *refs.Secret) bool {
	e, found, _ := a.pass.View.Endpoint(a.pass.Object.Name)
	return found && len(e.CACertBundle) > 0 && !a.bundles.known(a.pass.Object.UID, s, e.CACertBundle)
}

// Recorded is empty: an endpoint has no id but its name.
func (a *actuator) Recorded() string { return "" }

func (a *actuator) Observe(context.Context) (*garm.Endpoint, error) {
	e, found, synced := a.pass.View.Endpoint(a.pass.Object.Name)
	switch {
	case !synced:
		return nil, mirror.Again(time.Second)
	case !found, a.foreign():
		return nil, nil
	}
	return &e, nil
}

// foreign says that the resource is being deleted, and that the endpoint of its name, if there is one, was neither made nor
// taken over for it. Earlier operators recorded no more than that they had succeeded.
func (a *actuator) foreign() bool {
	obj := a.pass.Object
	recorded := obj.Status.ControllerID
	if recorded == "" {
		ready := status.Find(obj, v1beta1.ConditionReady)
		return !obj.DeletionTimestamp.IsZero() && (ready == nil || ready.Status != metav1.ConditionTrue)
	}
	return !obj.DeletionTimestamp.IsZero() && recorded != a.pass.ControllerID()
}

func (a *actuator) Gone(ctx context.Context) (bool, error) {
	a.bundles.forget(a.pass.Object.UID)
	if a.foreign() {
		return true, nil
	}
	return a.pass.View.ConfirmGone(ctx, remote.KindEndpoint, a.pass.Object.Name)
}

func (a *actuator) Create(ctx context.Context) (*garm.Endpoint, error) {
	p := a.pass
	if err := a.load(ctx); err != nil {
		return nil, err
	}
	spec := p.Object.Spec
	for _, u := range []struct {
		field string
		value v1beta1.URL
	}{{fieldAPIURL, spec.APIBaseURL}, {fieldUploadURL, spec.UploadBaseURL}, {fieldBaseURL, spec.BaseURL}} {
		if u.value == "" {
			return nil, mirror.Stop(v1beta1.ReasonInvalidSpec, "spec."+u.field+" must be set: the GARM server has no endpoint of this name yet, and needs it to make one")
		}
	}
	// Should no answer come, the endpoint is known by this to be the resource's once that is deleted.
	p.Object.Status.ControllerID = p.ControllerID()
	p.Event(corev1.EventTypeNormal, mirror.EventCreating, "creating the endpoint at the GARM server")
	e, err := p.View.Writer().CreateEndpoint(ctx, garm.CreateEndpointParams{
		Name: p.Object.Name, Description: spec.Description, APIBaseURL: string(spec.APIBaseURL),
		UploadBaseURL: string(spec.UploadBaseURL), BaseURL: string(spec.BaseURL), CACertBundle: a.bundle,
	})
	if garm.KindOf(err) == garm.KindConflict {
		_ = p.View.Relist(ctx, remote.KindEndpoint, time.Now())
	}
	if err != nil {
		return nil, err
	}
	a.mark()
	return &e, nil
}

// Inputs is the version of the CA bundle.
func (a *actuator) Inputs() string {
	if a.secret == nil {
		return ""
	}
	return a.secret.Marker()
}

func (a *actuator) load(ctx context.Context) (err error) {
	if a.secret != nil && a.bundle == nil {
		a.bundle, err = a.secret.Read(ctx, a.pass.Live)
	}
	return err
}

func (a *actuator) mark() {
	if a.secret != nil {
		a.pass.MarkSecret(a.secret.Marker())
	} else if a.pass.SecretMarker() != "" {
		a.pass.MarkSecret("")
	}
}

// Diff compares what the user has set; a slash at the end of a URL does not count.
func (a *actuator) Diff(e *garm.Endpoint) []string {
	spec := a.pass.Object.Spec
	var fields []string
	differs := func(field, want, have string) {
		if want != "" && strings.TrimRight(want, "/") != strings.TrimRight(have, "/") {
			fields = append(fields, field)
		}
	}
	differs(fieldDescription, spec.Description, e.Description)
	differs(fieldAPIURL, string(spec.APIBaseURL), e.APIBaseURL)
	differs(fieldUploadURL, string(spec.UploadBaseURL), e.UploadBaseURL)
	differs(fieldBaseURL, string(spec.BaseURL), e.BaseURL)
	switch {
	case a.secret == nil && a.pass.SecretMarker() != "" && len(e.CACertBundle) > 0:
		fields = append(fields, fieldCABundle)
	case a.secret != nil && a.bundle == nil && len(e.CACertBundle) == 0:
		fields = append(fields, fieldCABundle)
	case a.bundle != nil && !bytes.Equal(bytes.TrimSpace(a.bundle), bytes.TrimSpace(e.CACertBundle)):
		fields = append(fields, fieldCABundle)
	}
	return fields
}

func (a *actuator) Update(ctx context.Context, e *garm.Endpoint, fields []string) (*garm.Endpoint, error) {
	spec := a.pass.Object.Spec
	var params garm.UpdateEndpointParams
	for _, f := range fields {
		switch f {
		case fieldDescription:
			params.Description = &spec.Description
		case fieldAPIURL:
			params.APIBaseURL = ptr(string(spec.APIBaseURL))
		case fieldUploadURL:
			params.UploadBaseURL = ptr(string(spec.UploadBaseURL))
		case fieldBaseURL:
			params.BaseURL = ptr(string(spec.BaseURL))
		case fieldCABundle:
			if err := a.load(ctx); err != nil {
				return nil, err
			}
			bundle := append([]byte{}, a.bundle...)
			params.CACertBundle = &bundle
		}
	}
	updated, err := a.pass.View.Writer().UpdateEndpoint(ctx, e.Name, params)
	if err != nil {
		return nil, err
	}
	return &updated, nil
}

// Attend records the bundle that is in force.
func (a *actuator) Attend(_ context.Context, e *garm.Endpoint) error {
	if len(a.Diff(e)) > 0 {
		return nil
	}
	a.mark()
	if a.bundle != nil {
		a.bundles.note(a.pass.Object.UID, a.secret, e.CACertBundle)
	}
	return nil
}

// Guard waits for the credentials of the endpoint.
func (a *actuator) Guard(ctx context.Context) error {
	p := a.pass
	var users []string
	all, _ := p.View.AllCredentials()
	for _, c := range all {
		if strings.EqualFold(c.Endpoint.Name, p.Object.Name) {
			users = append(users, c.Name)
		}
	}
	if len(users) > 0 {
		return mirror.Wait(v1beta1.ReasonInUse, "credentials at the GARM server use it: "+strings.Join(users, ", "), guardRetry)
	}
	credentials, err := credentialsOf.Referrers(ctx, p.Client, p.Object.Namespace, p.Object.Name)
	if err != nil {
		return err
	}
	if len(credentials) > 0 {
		return mirror.Wait(v1beta1.ReasonInUse, "GitHubCredential "+credentials[0].Name+" refers to it; delete it first", 0)
	}
	return nil
}

// Retain says that the built-in endpoint stays.
func (a *actuator) Retain() bool { return strings.EqualFold(a.pass.Object.Name, builtIn) }

func (a *actuator) Delete(ctx context.Context, e *garm.Endpoint) error {
	return a.pass.View.Writer().DeleteEndpoint(ctx, e.Name)
}

// Project records that the endpoint is the resource's.
func (a *actuator) Project(*garm.Endpoint) {
	a.pass.Object.Status.ControllerID = a.pass.ControllerID()
}

func ptr[T any](v T) *T { return &v }
