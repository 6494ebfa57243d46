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
