// Package garmserverconfig mirrors the GarmServerConfig: the URLs of the GARM server itself.
package garmserverconfig

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/weburl"
)

type actuator struct {
	pass *mirror.Pass[*v1beta1.GarmServerConfig]
	rel  refs.Reference[*v1beta1.GarmServerConfig]
}

func (a *actuator) Resolve(context.Context) error { return nil }

// Owner says whether an older resource configures the server.
func (a *actuator) Owner(ctx context.Context) error {
	all, err := a.rel.Referrers(ctx, a.pass.Client, "", single)
	if err != nil {
		return err
	}
	if owner := refs.Oldest(all); owner != nil && owner.UID != a.pass.Object.UID {
		return mirror.Stop(v1beta1.ReasonNotOwner, fmt.Sprintf("GarmServerConfig %s/%s comes first and configures the server", owner.Namespace, owner.Name))
	}
	return nil
}

func (a *actuator) Recorded() string { return "" }

func (a *actuator) Observe(context.Context) (*garm.ControllerInfo, error) {
	info := a.pass.Session.State().Controller
	return &info, nil
}

func (a *actuator) Gone(context.Context) (bool, error) { return false, nil }

func (a *actuator) Create(context.Context) (*garm.ControllerInfo, error) {
	return nil, fmt.Errorf("a server cannot be created")
}

// Diff compares the URLs that are set.
func (a *actuator) Diff(info *garm.ControllerInfo) []string {
	spec := a.pass.Object.Spec
	var fields []string
	differs := func(field string, want v1beta1.URL, have string) {
		if want != "" && string(want) != have {
			fields = append(fields, field)
		}
	}
	differs("metadataUrl", spec.MetadataURL, info.MetadataURL)
	differs("callbackUrl", spec.CallbackURL, info.CallbackURL)
	differs("webhookUrl", spec.WebhookURL, info.WebhookURL)
	return fields
}

func (a *actuator) Update(ctx context.Context, _ *garm.ControllerInfo, fields []string) (*garm.ControllerInfo, error) {
	var params garm.UpdateControllerParams
	spec := a.pass.Object.Spec
	for _, f := range fields {
		switch f {
		case "metadataUrl":
			params.MetadataURL = text(spec.MetadataURL)
		case "callbackUrl":
			params.CallbackURL = text(spec.CallbackURL)
		case "webhookUrl":
			params.WebhookURL = text(spec.WebhookURL)
		}
	}
	updated, err := a.pass.View.Writer().UpdateController(ctx, params)
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		if path := elsewhere(f, spec); path != "" {
			a.pass.Event(corev1.EventTypeWarning, eventUnusualURL, "spec.%s does not end in %s, where the GARM server listens: it works only where a proxy maps it to that", f, path)
		}
	}
	return &updated, nil
}

func (a *actuator) Delete(context.Context, *garm.ControllerInfo) error { return nil }

func (a *actuator) Project(info *garm.ControllerInfo) {
	s := &a.pass.Object.Status
	s.ControllerID, s.Hostname, s.Version = info.ControllerID, info.Hostname, info.Version
	s.MetadataURL, s.CallbackURL, s.WebhookURL = weburl.WithoutLogin(info.MetadataURL), weburl.WithoutLogin(info.CallbackURL), weburl.WithoutLogin(info.WebhookURL)
	s.ControllerWebhookURL = weburl.WithoutLogin(info.ControllerWebhookURL)
	s.MinimumJobAgeBackoff = int64(info.MinimumJobAgeBackoff)
}

// eventUnusualURL is the reason of events that tell of a URL which most likely leads nowhere.
const eventUnusualURL = "UnusualURL"

// elsewhere returns the path that the URL of a field does not end in although the server listens there; "" where it does.
func elsewhere(field string, spec v1beta1.GarmServerConfigSpec) string {
	at := map[string]struct {
		url  v1beta1.URL
		path string
	}{
		"metadataUrl": {spec.MetadataURL, "/api/v1/metadata"}, "callbackUrl": {spec.CallbackURL, "/api/v1/callbacks"}, "webhookUrl": {spec.WebhookURL, "/webhooks"},
	}[field]
	if strings.HasSuffix(strings.TrimRight(string(at.url), "/"), at.path) {
		return ""
	}
	return at.path
}

func text(u v1beta1.URL) *string {
	s := string(u)
	return &s
}

// single is the one key of all resources of the kind: there is one server.
const single = "server"

// Setup adds the controller to the manager.
func Setup(ctx context.Context, mgr ctrl.Manager, session *remote.Session) error {
	rel := refs.Reference[*v1beta1.GarmServerConfig]{
		Field: "server", Names: func(*v1beta1.GarmServerConfig) []string { return []string{single} },
		New: func() *v1beta1.GarmServerConfig { return &v1beta1.GarmServerConfig{} }, NewList: func() client.ObjectList { return &v1beta1.GarmServerConfigList{} },
		Items: func(list client.ObjectList) []*v1beta1.GarmServerConfig {
			return refs.Pointers(list.(*v1beta1.GarmServerConfigList).Items)
		},
	}
	if err := rel.Index(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	c := mgr.GetClient()
	engine := mirror.New(mirror.Kind[*v1beta1.GarmServerConfig, garm.ControllerInfo]{
		Name: v1beta1.KindGarmServerConfig, Fit: remote.State.Connected,
		New: func() *v1beta1.GarmServerConfig { return &v1beta1.GarmServerConfig{} },
		Begin: func(p *mirror.Pass[*v1beta1.GarmServerConfig]) mirror.Actuator[garm.ControllerInfo] {
			return &actuator{pass: p, rel: rel}
		},
	}, mirror.Deps{Client: c, Live: mgr.GetAPIReader(), Session: session}, mirror.Recorder(mgr, "garm-server-config-controller"))
	all := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, _ client.Object) []reconcile.Request { return rel.All(ctx, c) })
	return ctrl.NewControllerManagedBy(mgr).
		Named("garmserverconfig").
		For(&v1beta1.GarmServerConfig{}, builder.WithPredicates(mirror.Own())).
		Watches(&v1beta1.GarmServerConfig{}, all, builder.WithPredicates(mirror.Deletions())).
		WatchesRawSource(session.Source(func(ctx context.Context, _ remote.Notice) []reconcile.Request {
			return rel.All(ctx, c)
		}, remote.KindSession)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1, RateLimiter: mirror.RateLimiter()}).
		Complete(engine)
}
