package client

import (
	"context"
	"net/http"

	"github.com/garm-operator/garm-operator/garm"
)

func knownEnterprise(e garm.Enterprise) bool { return e.ID != "" }

// ListEnterprises returns all enterprises, without their pools.
func (c *Client) ListEnterprises(ctx context.Context) ([]garm.Enterprise, error) {
	return list[garm.Enterprise](ctx, c, "enterprises.List", "/enterprises")
}

// GetEnterprise returns an enterprise and its pools.
func (c *Client) GetEnterprise(ctx context.Context, id string) (garm.Enterprise, error) {
	r := request{op: "enterprises.Get", method: http.MethodGet, path: "/enterprises/%s"}
	return at(ctx, c, r, id, knownEnterprise)
}

// CreateEnterprise makes an enterprise.
func (c *Client) CreateEnterprise(ctx context.Context, params garm.CreateEntityParams) (garm.Enterprise, error) {
	r := request{op: "enterprises.Create", method: http.MethodPost, path: "/enterprises", body: params}
	return fetch(ctx, c, r, knownEnterprise)
}

// UpdateEnterprise changes an enterprise.
func (c *Client) UpdateEnterprise(ctx context.Context, id string, params garm.UpdateEntityParams) (garm.Enterprise, error) {
	r := request{op: "enterprises.Update", method: http.MethodPut, path: "/enterprises/%s", body: params}
	return at(ctx, c, r, id, knownEnterprise)
}

// DeleteEnterprise removes an enterprise. A server refuses while it has pools.
func (c *Client) DeleteEnterprise(ctx context.Context, id string) error {
	return c.removeAt(ctx, "enterprises.Delete", "/enterprises/%s", id)
}

// ListEnterprisePools returns the pools of an enterprise.
func (c *Client) ListEnterprisePools(ctx context.Context, id string) ([]garm.Pool, error) {
	r := request{op: "pool.List", method: http.MethodGet, path: "/enterprises/%s/pools"}
	return at[[]garm.Pool](ctx, c, r, id, nil)
}

// CreateEnterprisePool makes a pool of an enterprise. GARM makes another one each time it is asked.
func (c *Client) CreateEnterprisePool(ctx context.Context, id string, params garm.CreatePoolParams) (garm.Pool, error) {
	r := request{op: "pool.CreateEnterprise", method: http.MethodPost, path: "/enterprises/%s/pools", body: params}
	return at(ctx, c, r, id, knownPool)
}
