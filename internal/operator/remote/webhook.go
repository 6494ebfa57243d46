package remote

import (
	"context"
	"fmt"

	"github.com/garm-operator/garm-operator/garm"
)

// Webhooks are in no list and no event: they are asked for and changed at the server, which asks the forge. The calls
// count as writes, so that only few are in flight.

// Webhook reads the webhook of a repository or organization. A server whose management of webhooks is off answers with
// garm.KindNoRoute, to this and the calls below.
func (w *Writer) Webhook(ctx context.Context, scope Scope) (garm.HookInfo, error) {
	var hook garm.HookInfo
	err := w.call(ctx, "GetWebhook", State.Ready, func(c Client) (err error) {
		switch scope.Kind {
		case KindRepository:
			hook, err = c.GetRepositoryWebhook(ctx, scope.ID)
		case KindOrganization:
			hook, err = c.GetOrganizationWebhook(ctx, scope.ID)
		default:
			err = noWebhook(scope)
		}
		return err
	})
	return hook, err
}

// InstallWebhook installs the webhook of a repository or organization. One that is installed is a conflict; a server
// that knows replace_url changes it in place instead.
func (w *Writer) InstallWebhook(ctx context.Context, scope Scope, params garm.InstallWebhookParams) (garm.HookInfo, error) {
	var hook garm.HookInfo
	err := w.call(ctx, "InstallWebhook", State.Ready, func(c Client) (err error) {
		switch scope.Kind {
		case KindRepository:
			hook, err = c.InstallRepositoryWebhook(ctx, scope.ID, params)
		case KindOrganization:
			hook, err = c.InstallOrganizationWebhook(ctx, scope.ID, params)
		default:
			err = noWebhook(scope)
		}
		return err
	})
	return hook, err
}

// UninstallWebhook removes the webhook of a repository or organization. None is no error.
func (w *Writer) UninstallWebhook(ctx context.Context, scope Scope) error {
	return w.call(ctx, "UninstallWebhook", State.Ready, func(c Client) error {
		switch scope.Kind {
		case KindRepository:
			return c.UninstallRepositoryWebhook(ctx, scope.ID)
		case KindOrganization:
			return c.UninstallOrganizationWebhook(ctx, scope.ID)
		}
		return noWebhook(scope)
	})
}

func noWebhook(scope Scope) error { return fmt.Errorf("a %s has no webhook", scope.Kind) }
