package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

const (
	// maxErrorBody bounds what is read of an error's body, in bytes.
	maxErrorBody = 64 << 10
	// maxDetails bounds what an error repeats of the server's words, in bytes.
	maxDetails = 1024
)

// decode reads the answer of a successful call.
func decode[T any](op string, a answer, known func(T) bool) (T, error) {
	var value, none T
	if len(bytes.TrimSpace(a.body)) == 0 {
		return none, undecodable(op, a.status, errors.New("the answer is empty"))
	}
	if err := json.Unmarshal(a.body, &value); err != nil {
		return none, undecodable(op, a.status, errors.New("the answer is not what GARM sends here: is a proxy in between?"))
	}
	if known != nil && !known(value) {
		return none, undecodable(op, a.status, errors.New("the answer names no object: is a proxy in between?"))
	}
	return value, nil
}

func undecodable(op string, status int, cause error) *garm.Error {
	return &garm.Error{Kind: garm.KindUndecodable, Op: op, Status: status, Err: cause}
}

// refusal makes the error of an answer that is no success. Secrets are taken out of the server's words.
func refusal(op string, status int, header http.Header, body []byte, secrets []string) *garm.Error {
	e := &garm.Error{Op: op, Status: status}
	var said garm.ErrorBody
	ours := json.Unmarshal(body, &said) == nil && said.Error != ""
	if ours {
		e.Title = redact(said.Error, secrets)
		e.Details = redact(said.Details, secrets)
	}
	e.Kind = kindOf(status, said, ours)
	if e.Kind == garm.KindUndecodable {
		e.Err = errors.New("the answer is not GARM's: is a proxy in between, or is the address wrong?")
	}
	if status >= 300 && status < 400 {
		e.Err = errors.New("the server sends its clients to another address: use that one")
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		e.RetryAfterSeconds = retryAfter(header, time.Now())
	}
	return e
}

// noRoute is the title of GARM's answer to a path that it does not know. An object that does not exist is "Not Found".
const noRoute = "Not found"

// kindOf classifies a status that is no success. Ours says whether the body is an error of GARM's.
func kindOf(status int, said garm.ErrorBody, ours bool) garm.ErrorKind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return garm.KindUnauthorized
	case status == http.StatusTooManyRequests:
		return garm.KindRateLimited
	case status >= 500:
		return garm.KindUnavailable
	case status == http.StatusMethodNotAllowed:
		return garm.KindNoRoute
	case status >= 300 && status < 400:
		return garm.KindUnknown
	case !ours:
		return garm.KindUndecodable
	case status == http.StatusNotFound && said.Error == noRoute:
		return garm.KindNoRoute
	case status == http.StatusNotFound:
		return garm.KindNotFound
	case status == http.StatusConflict && said.Error == garm.InitRequired:
		return garm.KindInitRequired
	case status == http.StatusConflict && said.Error == garm.URLsRequired:
		return garm.KindURLsRequired
	case status == http.StatusConflict:
		return garm.KindConflict
	case status == http.StatusBadRequest, status == http.StatusUnprocessableEntity:
		return garm.KindInvalid
	}
	return garm.KindUnknown
}

// retryAfter reads the Retry-After header: seconds, or a date.
func retryAfter(header http.Header, now time.Time) int {
	value := header.Get("Retry-After")
	if n, err := strconv.Atoi(value); err == nil {
		return max(n, 0)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(seconds(at.Sub(now)), 0)
	}
	return 0
}

// transportError makes the error of a call without an answer. Of a *url.Error only the cause is kept: its text repeats
// the address.
func transportError(op string, err error) *garm.Error {
	var withURL *url.Error
	for errors.As(err, &withURL) {
		err = withURL.Err
	}
	kind := garm.KindTransport
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &timeout) && timeout.Timeout()) {
		kind = garm.KindTimeout
	}
	var dial *net.OpError
	notSent := errors.As(err, &dial) && dial.Op == "dial"
	return &garm.Error{Kind: kind, Op: op, NotSent: notSent, Err: steady(err)}
}

// steady takes out of an error the ports of this side, which differ each time: who compares the text would find news in
// each failure.
func steady(err error) error {
	if withPorts, ok := errors.AsType[*net.OpError](err); ok {
		of := *withPorts
		of.Source = nil
		if lookup, ok := errors.AsType[*net.DNSError](of.Err); ok {
			of.Err = steadyLookup(lookup)
		}
		return &of
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		return steadyLookup(lookup)
	}
	return err
}

func steadyLookup(e *net.DNSError) error {
	of := *e
	switch {
	case e.IsNotFound:
	case e.IsTimeout:
		of.Err = "no answer in time"
	default:
		of.Err = "the name server failed"
	}
	return &of
}

// redact takes secrets out of a text and bounds its length.
func redact(text string, secrets []string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "[redacted]")
		}
	}
	if len(text) > maxDetails {
		text = strings.ToValidUTF8(text[:maxDetails], "") + "..."
	}
	return text
}
