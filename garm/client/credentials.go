package client

import (
	"context"
	"net/http"
	"strconv"

	"github.com/garm-operator/garm-operator/garm"
)

func knownCredentials(c garm.Credentials) bool { return c.ID != 0 }

// ListCredentials returns all GitHub credentials, without the entities that use them.
func (c *Client) ListCredentials(ctx context.Context) ([]garm.Credentials, error) {
	return list[garm.Credentials](ctx, c, "credentials.List", "/github/credentials")
}

// GetCredentials returns GitHub credentials and the entities that use them.
func (c *Client) GetCredentials(ctx context.Context, id uint) (garm.Credentials, error) {
	r := request{op: "credentials.Get", method: http.MethodGet, path: credentialsPath(id)}
	return fetch(ctx, c, r, knownCredentials)
}

// CreateCredentials makes GitHub credentials.
func (c *Client) CreateCredentials(ctx context.Context, params garm.CreateCredentialsParams) (garm.Credentials, error) {
	r := request{op: "credentials.Create", method: http.MethodPost, path: "/github/credentials", body: params}
	return fetch(ctx, c, r, knownCredentials)
}

// UpdateCredentials changes GitHub credentials.
func (c *Client) UpdateCredentials(ctx context.Context, id uint, params garm.UpdateCredentialsParams) (garm.Credentials, error) {
	r := request{op: "credentials.Update", method: http.MethodPut, path: credentialsPath(id), body: params}
	return fetch(ctx, c, r, knownCredentials)
}

// DeleteCredentials removes GitHub credentials. It succeeds if there are none of that id.
func (c *Client) DeleteCredentials(ctx context.Context, id uint) error {
	return c.remove(ctx, "credentials.Delete", credentialsPath(id))
}

func credentialsPath(id uint) string {
	return "/github/credentials/" + strconv.FormatUint(uint64(id), 10)
}
