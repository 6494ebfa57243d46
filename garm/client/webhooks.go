package client

import (
	"context"
	"net/http"

	"github.com/garm-operator/garm-operator/garm"
)

func knownHook(h garm.HookInfo) bool { return h.URL != "" }

// GetRepositoryWebhook returns the webhook by which the forge tells the server of the jobs of a repository. Servers whose
// management of webhooks is off answer with garm.KindNoRoute, to this and the calls below.
func (c *Client) GetRepositoryWebhook(ctx context.Context, id string) (garm.HookInfo, error) {
	return c.getWebhook(ctx, "repository.GetWebhook", "/repositories/%s/webhook", id)
}

// InstallRepositoryWebhook makes the server install its webhook in a repository.
func (c *Client) InstallRepositoryWebhook(ctx context.Context, id string, params garm.InstallWebhookParams) (garm.HookInfo, error) {
	return c.installWebhook(ctx, "repository.InstallWebhook", "/repositories/%s/webhook", id, params)
}

// UninstallRepositoryWebhook makes the server remove its webhook from a repository. None is no error.
func (c *Client) UninstallRepositoryWebhook(ctx context.Context, id string) error {
	return c.removeAt(ctx, "repository.UninstallWebhook", "/repositories/%s/webhook", id)
}

// GetOrganizationWebhook returns the webhook by which the forge tells the server of the jobs of an organization.
func (c *Client) GetOrganizationWebhook(ctx context.Context, id string) (garm.HookInfo, error) {
	return c.getWebhook(ctx, "organization.GetWebhook", "/organizations/%s/webhook", id)
}

// InstallOrganizationWebhook makes the server install its webhook in an organization.
func (c *Client) InstallOrganizationWebhook(ctx context.Context, id string, params garm.InstallWebhookParams) (garm.HookInfo, error) {
	return c.installWebhook(ctx, "organization.InstallWebhook", "/organizations/%s/webhook", id, params)
}

// UninstallOrganizationWebhook makes the server remove its webhook from an organization. None is no error.
func (c *Client) UninstallOrganizationWebhook(ctx context.Context, id string) error {
	return c.removeAt(ctx, "organization.UninstallWebhook", "/organizations/%s/webhook", id)
}

func (c *Client) getWebhook(ctx context.Context, op, path, id string) (garm.HookInfo, error) {
	return at(ctx, c, request{op: op, method: http.MethodGet, path: path}, id, knownHook)
}

func (c *Client) installWebhook(ctx context.Context, op, path, id string, params garm.InstallWebhookParams) (garm.HookInfo, error) {
	return at(ctx, c, request{op: op, method: http.MethodPost, path: path, body: params}, id, knownHook)
}
