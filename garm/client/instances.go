package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/garm-operator/garm-operator/garm"
)

func knownInstance(i garm.Instance) bool { return i.Name != "" }

// ListInstances returns all instances.
func (c *Client) ListInstances(ctx context.Context) ([]garm.Instance, error) {
	return list[garm.Instance](ctx, c, "instances.List", "/instances")
}

// ListPoolInstances returns the instances of a pool; none if there is no such pool.
func (c *Client) ListPoolInstances(ctx context.Context, poolID string) ([]garm.Instance, error) {
	r := request{op: "instances.ListPool", method: http.MethodGet, path: "/pools/%s/instances"}
	return at[[]garm.Instance](ctx, c, r, poolID, nil)
}

// GetInstance returns an instance with its addresses and status messages.
func (c *Client) GetInstance(ctx context.Context, name string) (garm.Instance, error) {
	r := request{op: "instances.Get", method: http.MethodGet, path: "/instances/%s"}
	return at(ctx, c, r, name, knownInstance)
}

// DeleteInstanceOptions say how an instance is removed.
type DeleteInstanceOptions struct {
	// Force removes the instance from the server although the provider fails.
	Force bool
	// BypassGitHubUnauthorized removes the instance although GitHub refuses the credentials. The runner may stay there.
	BypassGitHubUnauthorized bool
}

// DeleteInstance asks the server to remove an instance; the removal itself happens later. Force ignores failures of the
// provider.
func (c *Client) DeleteInstance(ctx context.Context, name string, force bool) error {
	return c.DeleteInstanceWith(ctx, name, DeleteInstanceOptions{Force: force})
}

// DeleteInstanceWith is DeleteInstance with all options.
func (c *Client) DeleteInstanceWith(ctx context.Context, name string, opts DeleteInstanceOptions) error {
	query := url.Values{}
	if opts.Force {
		query.Set("forceRemove", "true")
	}
	if opts.BypassGitHubUnauthorized {
		query.Set("bypassGHUnauthorized", "true")
	}
	path := "/instances/%s"
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.removeAt(ctx, "instances.Delete", path, name)
}
