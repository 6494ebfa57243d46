package client

import (
	"context"
	"net/http"

	"github.com/garm-operator/garm-operator/garm"
)

func knownOrganization(e garm.Organization) bool { return e.ID != "" }

// ListOrganizations returns all organizations, without their pools.
func (c *Client) ListOrganizations(ctx context.Context) ([]garm.Organization, error) {
	return list[garm.Organization](ctx, c, "organization.List", "/organizations")
}

// GetOrganization returns an organization and its pools.
func (c *Client) GetOrganization(ctx context.Context, id string) (garm.Organization, error) {
	r := request{op: "organization.Get", method: http.MethodGet, path: "/organizations/%s"}
	return at(ctx, c, r, id, knownOrganization)
}

// CreateOrganization makes an organization.
func (c *Client) CreateOrganization(ctx context.Context, params garm.CreateEntityParams) (garm.Organization, error) {
	r := request{op: "organization.Create", method: http.MethodPost, path: "/organizations", body: params}
	return fetch(ctx, c, r, knownOrganization)
}

// UpdateOrganization changes an organization.
func (c *Client) UpdateOrganization(ctx context.Context, id string, params garm.UpdateEntityParams) (garm.Organization, error) {
	r := request{op: "organization.Update", method: http.MethodPut, path: "/organizations/%s", body: params}
	return at(ctx, c, r, id, knownOrganization)
}

// DeleteOrganization removes an organization. A server refuses while it has pools.
func (c *Client) DeleteOrganization(ctx context.Context, id string) error {
	return c.removeAt(ctx, "organization.Delete", "/organizations/%s", id)
}

// ListOrganizationPools returns the pools of an organization.
func (c *Client) ListOrganizationPools(ctx context.Context, id string) ([]garm.Pool, error) {
	r := request{op: "pool.List", method: http.MethodGet, path: "/organizations/%s/pools"}
	return at[[]garm.Pool](ctx, c, r, id, nil)
}

// CreateOrganizationPool makes a pool of an organization. GARM makes another one each time it is asked.
func (c *Client) CreateOrganizationPool(ctx context.Context, id string, params garm.CreatePoolParams) (garm.Pool, error) {
	r := request{op: "pool.CreateOrg", method: http.MethodPost, path: "/organizations/%s/pools", body: params}
	return at(ctx, c, r, id, knownPool)
}
