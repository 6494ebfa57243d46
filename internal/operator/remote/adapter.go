package remote

import (
	"context"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/garm/client"
)

// Over lets a session speak through a client of the wire.
func Over(c *client.Client) Client { return wireClient{c} }

type wireClient struct{ *client.Client }

// Events opens the event stream.
func (c wireClient) Events(ctx context.Context, filter garm.EventFilter) (EventStream, error) {
	stream, err := c.Client.Events(ctx, filter)
	if err != nil {
		return nil, err
	}
	return stream, nil
}

// DeleteInstance asks the server to remove an instance, by force with all that the server offers for it.
func (c wireClient) DeleteInstance(ctx context.Context, name string, force bool) error {
	return c.DeleteInstanceWith(ctx, name, client.DeleteInstanceOptions{Force: force, BypassGitHubUnauthorized: force})
}
