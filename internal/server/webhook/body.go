package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// maxBody is GitHub's own limit of a payload.
	maxBody = 25 << 20
	// maxBodies bounds the payloads that are held at a time: anybody can send one before its signature is checked.
	maxBodies = 4 * maxBody
	// minStep and maxStep bound how much of a payload is made room for at a time, so that a sender who sends little, or
	// nothing, takes little room from others.
	minStep = 64 << 10
	maxStep = 1 << 20
	// bodyTimeout is how long a payload may take. GitHub waits no longer for the answer.
	bodyTimeout = 10 * time.Second
)

// read reads the payload of a request. It takes room for it as it comes and returns how much, which is for the caller to
// give back, with an error, too.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) (body []byte, held int64, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), bodyTimeout)
	defer cancel()
	connection := http.NewResponseController(w)
	if connection.SetReadDeadline(time.Now().Add(bodyTimeout)) == nil {
		defer func() {
			if err == nil {
				_ = connection.SetReadDeadline(time.Time{}) // the next request has its own
			}
		}()
	}
	from := http.MaxBytesReader(w, r.Body, maxBody)
	var buffer bytes.Buffer
	for step := int64(minStep); ; step = min(2*step, maxStep) {
		if err := h.bodies.Acquire(ctx, step); err != nil {
			return nil, held, fmt.Errorf("too much is under way: %w", err)
		}
		held += step
		_, err := io.CopyN(&buffer, from, step)
		switch {
		case errors.Is(err, io.EOF):
			return buffer.Bytes(), held, nil
		case err != nil:
			return nil, held, err
		}
	}
}
