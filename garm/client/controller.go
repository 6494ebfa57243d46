package client

import (
	"context"
	"net/http"

	"github.com/garm-operator/garm-operator/garm"
)

func knownController(i garm.ControllerInfo) bool { return i.ControllerID != "" }

// GetController returns what the server says about itself. Other than ControllerInfo it answers before the server's
// URLs are set, too.
func (c *Client) GetController(ctx context.Context) (garm.ControllerInfo, error) {
	return fetch(ctx, c, request{op: "controller.Info", method: http.MethodGet, path: "/controller"}, knownController)
}

// ControllerInfo returns what the server says about itself, or fails with garm.KindURLsRequired before its URLs are set.
func (c *Client) ControllerInfo(ctx context.Context) (garm.ControllerInfo, error) {
	return fetch(ctx, c, request{op: "controller.Info", method: http.MethodGet, path: "/controller-info"}, knownController)
}

// UpdateController changes the server's settings. The answer leaves the hostname out.
func (c *Client) UpdateController(ctx context.Context, params garm.UpdateControllerParams) (garm.ControllerInfo, error) {
	r := request{op: "controller.Update", method: http.MethodPut, path: "/controller", body: params}
	return fetch(ctx, c, r, knownController)
}

// ListProviders returns the providers that the server is configured with.
func (c *Client) ListProviders(ctx context.Context) ([]garm.Provider, error) {
	return list[garm.Provider](ctx, c, "providers.List", "/providers")
}

// ListJobs returns the jobs that the server knows.
func (c *Client) ListJobs(ctx context.Context) ([]garm.Job, error) {
	return list[garm.Job](ctx, c, "jobs.List", "/jobs")
}
