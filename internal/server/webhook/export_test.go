package webhook

import "context"

// Fill takes all the room for payloads, until it is given back.
func (h *Handler) Fill(ctx context.Context) (release func(), err error) {
	err = h.bodies.Acquire(ctx, maxBodies)
	return func() { h.bodies.Release(maxBodies) }, err
}
