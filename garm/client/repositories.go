package client

import (
	"context"
	"net/http"

	"github.com/garm-operator/garm-operator/garm"
)

func knownRepository(e garm.Repository) bool { return e.ID != "" }

// ListRepositories returns all repositories, without their pools.
func (c *Client) ListRepositories(ctx context.Context) ([]garm.Repository, error) {
	return list[garm.Repository](ctx, c, "repository.List", "/repositories")
}

// GetRepository returns a repository and its pools.
func (c *Client) GetRepository(ctx context.Context, id string) (garm.Repository, error) {
	r := request{op: "repository.Get", method: http.MethodGet, path: "/repositories/%s"}
	return at(ctx, c, r, id, knownRepository)
}

// CreateRepository makes a repository.
func (c *Client) CreateRepository(ctx context.Context, params garm.CreateEntityParams) (garm.Repository, error) {
	r := request{op: "repository.Create", method: http.MethodPost, path: "/repositories", body: params}
	return fetch(ctx, c, r, knownRepository)
}

// UpdateRepository changes a repository.
func (c *Client) UpdateRepository(ctx context.Context, id string, params garm.UpdateEntityParams) (garm.Repository, error) {
	r := request{op: "repository.Update", method: http.MethodPut, path: "/repositories/%s", body: params}
	return at(ctx, c, r, id, knownRepository)
}

// DeleteRepository removes a repository. A server refuses while it has pools.
func (c *Client) DeleteRepository(ctx context.Context, id string) error {
	return c.removeAt(ctx, "repository.Delete", "/repositories/%s", id)
}

// ListRepositoryPools returns the pools of a repository.
func (c *Client) ListRepositoryPools(ctx context.Context, id string) ([]garm.Pool, error) {
	r := request{op: "pool.List", method: http.MethodGet, path: "/repositories/%s/pools"}
	return at[[]garm.Pool](ctx, c, r, id, nil)
}

// CreateRepositoryPool makes a pool of a repository. GARM makes another one each time it is asked.
func (c *Client) CreateRepositoryPool(ctx context.Context, id string, params garm.CreatePoolParams) (garm.Pool, error) {
	r := request{op: "pool.CreateRepo", method: http.MethodPost, path: "/repositories/%s/pools", body: params}
	return at(ctx, c, r, id, knownPool)
}
