package replay

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// requestTimeout bounds one request. Servers answer some only after they have asked the forge.
const requestTimeout = 2 * time.Minute

// send sends the request of an exchange once. It fails only if the request cannot be made.
func (r *Replayer) send(ctx context.Context, e Exchange) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := r.request(ctx, e)
	if err != nil {
		return answer{}, err
	}
	// Straight through the transport: redirects are answers, too.
	resp, err := r.transport.RoundTrip(req)
	if err != nil {
		return answer{}, nil // a connection that ends is an answer of status 0
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, nil
	}
	return answer{status: resp.StatusCode, contentType: resp.Header.Get("Content-Type"), text: strings.ToValidUTF8(string(data), "\uFFFD")}, nil
}

func (r *Replayer) request(ctx context.Context, e Exchange) (*http.Request, error) {
	body, err := r.body(e)
	if err != nil {
		return nil, err
	}
	target, err := fillText(e.Path, r.lookup)
	if err != nil {
		return nil, err
	}
	if e.Query != "" {
		query, err := fillText(e.Query, r.lookup)
		if err != nil {
			return nil, err
		}
		target += "?" + query
	}
	req, err := http.NewRequestWithContext(ctx, e.Method, r.options.URL+target, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	if req.Header, err = r.headers(e); err != nil {
		return nil, err
	}
	if e.SignWith != "" {
		mac := hmac.New(sha256.New, []byte(e.SignWith))
		mac.Write(body)
		req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	return req, nil
}

func (r *Replayer) headers(e Exchange) (http.Header, error) {
	header := http.Header{}
	for name, value := range e.RequestHeaders {
		if value == "<signature>" {
			continue
		}
		value, err := fillText(value, r.lookup)
		if err != nil {
			return nil, err
		}
		header.Set(name, value)
	}
	return header, nil
}

func (r *Replayer) body(e Exchange) ([]byte, error) {
	if e.RequestBytes != nil {
		text, err := fillText(*e.RequestBytes, r.lookup)
		return []byte(text), err
	}
	if len(e.RequestBody) == 0 || string(e.RequestBody) == "null" {
		return nil, nil
	}
	text, err := fillJSON(e.RequestBody, r.lookup)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(text)); err != nil {
		return nil, fmt.Errorf("filling the request body: %w", err)
	}
	return compact.Bytes(), nil
}
