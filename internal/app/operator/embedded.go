package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/app/embedded"
	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// embeddedAdmin is the name of the embedded server's administrator, unless one is given.
const embeddedAdmin = "admin"

// useEmbedded makes the embedded server, and points the configuration and the options at it.
func useEmbedded(cfg *operatorconfig.Config, opts *Options) (*embedded.Server, error) {
	given := cfg.GARM.Password != "" || cfg.GARM.PasswordFile != ""
	server, err := embedded.New(embedded.Options{
		Config: cfg.EmbeddedServer, AdminGiven: given, Log: slog.New(logr.ToSlogHandler(opts.Log.WithName("garm-server"))),
	})
	if err != nil {
		return nil, fmt.Errorf("embedded server: %w", err)
	}
	g := operatorconfig.GARM{
		Server: embedded.URL, Username: cfg.GARM.Username, Password: cfg.GARM.Password, PasswordFile: cfg.GARM.PasswordFile, Init: true, Email: cfg.GARM.Email,
	}
	if g.Username == "" {
		g.Username = embeddedAdmin
	}
	if !given {
		opts.password = server.Password
	}
	cfg.GARM, opts.Transport = g, server.Transport()
	return server, nil
}

// embeddedSession runs the embedded server and, while it runs, the session with it: on the leader only, since one process at a
// time may use the database.
type embeddedSession struct {
	server  *embedded.Server
	session *remote.Session
	garm    controllerClient
	kube    client.Reader
	config  operatorconfig.EmbeddedServer
	log     logr.Logger
}

// controllerClient is what has to be said to the server before work begins.
type controllerClient interface {
	GetController(ctx context.Context) (garm.ControllerInfo, error)
	UpdateController(ctx context.Context, params garm.UpdateControllerParams) (garm.ControllerInfo, error)
}

// NeedLeaderElection says that only the leader runs the server.
func (*embeddedSession) NeedLeaderElection() bool { return true }

// Start runs the server and the session until ctx ends or the server breaks down.
func (e *embeddedSession) Start(ctx context.Context) error {
	err := e.server.Run(ctx, func(ctx context.Context) error {
		if err := e.prepare(ctx); err != nil {
			return err
		}
		return e.session.Start(ctx)
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil // it was stopped before it was up
	}
	return err
}

// prepare makes the administrator, refuses resources of another controller, and sets the URLs.
func (e *embeddedSession) prepare(ctx context.Context) error {
	info, err := e.garm.GetController(ctx) // logs in, and makes the administrator of a new server
	if garm.KindOf(err) == garm.KindUnauthorized {
		return fmt.Errorf("log in to the embedded server: the administrator was made with another user name or password than now given "+
			"(what was made without --garm-password and --garm-password-file is kept in the data directory): %w", err)
	}
	if err != nil {
		return fmt.Errorf("log in to the embedded server: %w", err)
	}
	if err := e.refuseForeign(ctx, info.ControllerID); err != nil {
		return err
	}
	params, missing, err := e.urls(ctx, info)
	if err != nil {
		return err
	}
	if params.MetadataURL != nil || params.CallbackURL != nil || params.WebhookURL != nil {
		if _, err := e.garm.UpdateController(ctx, params); err != nil {
			return fmt.Errorf("set the URLs of the embedded server: %w", err)
		}
	}
	if missing {
		e.log.Info("The embedded server does no work before it knows its URLs: give --embedded-server-url, or make a GarmServerConfig")
	}
	return nil
}

// urls returns what is to be set of the controller's URLs, all but those that a GarmServerConfig sets, and whether one is
// missing without which the server does not work.
func (e *embeddedSession) urls(ctx context.Context, info garm.ControllerInfo) (params garm.UpdateControllerParams, missing bool, err error) {
	var list v1beta1.GarmServerConfigList
	if err := e.kube.List(ctx, &list); err != nil {
		return params, false, fmt.Errorf("list the GarmServerConfigs: %w", err)
	}
	c := e.config
	for _, u := range []struct {
		given, path, have string
		claim             func(v1beta1.GarmServerConfigSpec) v1beta1.URL
		param             **string
		needed            bool
	}{
		{c.MetadataURL, "/api/v1/metadata", info.MetadataURL, func(s v1beta1.GarmServerConfigSpec) v1beta1.URL { return s.MetadataURL }, &params.MetadataURL, true},
		{c.CallbackURL, "/api/v1/callbacks", info.CallbackURL, func(s v1beta1.GarmServerConfigSpec) v1beta1.URL { return s.CallbackURL }, &params.CallbackURL, true},
		{c.WebhookURL, "/webhooks", info.WebhookURL, func(s v1beta1.GarmServerConfigSpec) v1beta1.URL { return s.WebhookURL }, &params.WebhookURL, false},
	} {
		want := u.given
		if want == "" && c.URL != "" {
			want = strings.TrimSuffix(c.URL, "/") + u.path
		}
		claimed := false
		for i := range list.Items {
			claimed = claimed || u.claim(list.Items[i].Spec) != ""
		}
		if want != "" && want != u.have && !claimed {
			*u.param = &want
		}
		missing = missing || u.needed && !claimed && want == "" && u.have == ""
	}
	return params, missing, nil
}
