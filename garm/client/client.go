package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

// maxAnswer bounds what is read of an answer, in bytes. 10,000 instances take some 10 MiB.
const maxAnswer = 128 << 20

// Client speaks to one GARM server. It may be used by many goroutines at once.
type Client struct {
	config  Config
	base    string
	http    *http.Client
	session session
}

// CloseIdleConnections closes the connections that are kept for later calls. The client stays usable.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// request is one call.
type request struct {
	op     string
	method string
	path   string
	body   any
}

// answer is what the server said to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// call sends a request as the logged-in user, and once more after a new login if the server does not know the token.
func (c *Client) call(ctx context.Context, r request) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	var a answer
	err := c.authenticated(ctx, r.op, func(token string) (err error) {
		a, err = c.send(ctx, r, token)
		return err
	})
	if err != nil {
		c.config.Metrics.Error(r.op)
	}
	return a, err
}

// send makes one HTTP request. The error is a *garm.Error.
func (c *Client) send(ctx context.Context, r request, token string) (answer, error) {
	var body io.Reader
	if r.body != nil {
		data, err := json.Marshal(r.body)
		if err != nil {
			return answer{}, &garm.Error{Kind: garm.KindInvalid, Op: r.op, Err: errors.New("the request cannot be written as JSON")}
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, body)
	if err != nil {
		return answer{}, &garm.Error{Kind: garm.KindInvalid, Op: r.op, Err: errors.New("the request has no valid address")}
	}
	req.Header = c.header(token)
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	c.config.Metrics.Request(r.op)
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, transportError(r.op, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		// What is left unread closes the connection, so that a long error page costs no time.
		data, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return answer{}, refusal(r.op, resp.StatusCode, resp.Header, data, append(secretsOf(r.body), token))
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return answer{}, transportError(r.op, err)
	}
	if len(data) > maxAnswer {
		return answer{}, undecodable(r.op, resp.StatusCode, fmt.Errorf("the answer is longer than %d MiB", maxAnswer>>20))
	}
	return answer{status: resp.StatusCode, header: resp.Header, body: data}, nil
}

func (c *Client) header(token string) http.Header {
	h := http.Header{"User-Agent": {c.config.UserAgent}, "Accept": {"application/json"}}
	if token != "" {
		h.Set("Authorization", "Bearer "+token)
	}
	return h
}

// fetch makes a call whose answer is a T. Known says whether an answer carries what makes it a T; without it a JSON
// answer of something else in between would pass for an empty one.
func fetch[T any](ctx context.Context, c *Client, r request, known func(T) bool) (T, error) {
	a, err := c.call(ctx, r)
	if err != nil {
		var none T
		return none, err
	}
	value, err := decode(r.op, a, known)
	if err != nil {
		c.config.Metrics.Error(r.op)
	}
	return value, err
}

// list makes a call whose answer is a list; null is an empty one.
func list[T any](ctx context.Context, c *Client, op, path string) ([]T, error) {
	return fetch[[]T](ctx, c, request{op: op, method: http.MethodGet, path: path}, nil)
}

// remove makes a call whose answer does not matter as long as it is a success.
func (c *Client) remove(ctx context.Context, op, path string) error {
	_, err := c.call(ctx, request{op: op, method: http.MethodDelete, path: path})
	return err
}

// segment escapes a path element. An empty one would address the whole collection.
func segment(op, value string) (string, error) {
	if value == "" || value == "." || value == ".." {
		return "", &garm.Error{Kind: garm.KindInvalid, Op: op, Err: fmt.Errorf("%q names no object", value)}
	}
	return url.PathEscape(value), nil
}

// at makes a call to an object: path with its %s replaced by the id.
func at[T any](ctx context.Context, c *Client, r request, id string, known func(T) bool) (T, error) {
	escaped, err := segment(r.op, id)
	if err != nil {
		var none T
		return none, err
	}
	r.path = strings.Replace(r.path, "%s", escaped, 1)
	return fetch(ctx, c, r, known)
}

// removeAt deletes an object: path with its %s replaced by the id.
func (c *Client) removeAt(ctx context.Context, op, path, id string) error {
	escaped, err := segment(op, id)
	if err != nil {
		return err
	}
	return c.remove(ctx, op, strings.Replace(path, "%s", escaped, 1))
}

// seconds rounds up, so that nobody comes back too early.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
