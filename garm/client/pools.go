package client

import (
	"context"
	"net/http"

	"github.com/garm-operator/garm-operator/garm"
)

func knownPool(p garm.Pool) bool { return p.ID != "" }

// ListPools returns all pools, without their extra specs and instances.
func (c *Client) ListPools(ctx context.Context) ([]garm.Pool, error) {
	return list[garm.Pool](ctx, c, "pool.List", "/pools")
}

// GetPool returns a pool with its extra specs and instances.
func (c *Client) GetPool(ctx context.Context, id string) (garm.Pool, error) {
	return at(ctx, c, request{op: "pool.Get", method: http.MethodGet, path: "/pools/%s"}, id, knownPool)
}

// UpdatePool changes a pool.
func (c *Client) UpdatePool(ctx context.Context, id string, params garm.UpdatePoolParams) (garm.Pool, error) {
	r := request{op: "pool.UpdatePool", method: http.MethodPut, path: "/pools/%s", body: params}
	return at(ctx, c, r, id, knownPool)
}

// DeletePool removes a pool. It succeeds if there is none of that id; a server refuses while the pool has runners.
func (c *Client) DeletePool(ctx context.Context, id string) error {
	return c.removeAt(ctx, "pool.Delete", "/pools/%s", id)
}
