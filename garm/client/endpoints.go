package client

import (
	"context"
	"net/http"

	"github.com/garm-operator/garm-operator/garm"
)

func knownEndpoint(e garm.Endpoint) bool { return e.Name != "" }

// ListEndpoints returns all GitHub endpoints.
func (c *Client) ListEndpoints(ctx context.Context) ([]garm.Endpoint, error) {
	return list[garm.Endpoint](ctx, c, "endpoints.List", "/github/endpoints")
}

// GetEndpoint returns the GitHub endpoint of that name.
func (c *Client) GetEndpoint(ctx context.Context, name string) (garm.Endpoint, error) {
	r := request{op: "endpoints.Get", method: http.MethodGet, path: "/github/endpoints/%s"}
	return at(ctx, c, r, name, knownEndpoint)
}

// CreateEndpoint makes a GitHub endpoint.
func (c *Client) CreateEndpoint(ctx context.Context, params garm.CreateEndpointParams) (garm.Endpoint, error) {
	r := request{op: "endpoints.Create", method: http.MethodPost, path: "/github/endpoints", body: params}
	return fetch(ctx, c, r, knownEndpoint)
}

// UpdateEndpoint changes a GitHub endpoint.
func (c *Client) UpdateEndpoint(ctx context.Context, name string, params garm.UpdateEndpointParams) (garm.Endpoint, error) {
	r := request{op: "endpoints.Update", method: http.MethodPut, path: "/github/endpoints/%s", body: params}
	return at(ctx, c, r, name, knownEndpoint)
}

// DeleteEndpoint removes a GitHub endpoint. It succeeds if there is none of that name.
func (c *Client) DeleteEndpoint(ctx context.Context, name string) error {
	return c.removeAt(ctx, "endpoints.Delete", "/github/endpoints/%s", name)
}
