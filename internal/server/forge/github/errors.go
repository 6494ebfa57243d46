package github

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v88/github"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
)

// secondaryPause is how long to rest after a secondary rate limit that names no time.
const secondaryPause = time.Minute

// failed says what a failed call means.
func failed(op string, err error) error {
	out := &fleet.ForgeError{Op: op, Err: err}
	var primary *github.RateLimitError
	var secondary *github.AbuseRateLimitError
	var app *ghinstallation.HTTPError
	var answer *github.ErrorResponse
	switch {
	case errors.As(err, &primary):
		out.Kind, out.Until = fleet.ForgeRateLimited, primary.Rate.Reset.Time
	case errors.As(err, &secondary):
		out.Kind, out.Until = fleet.ForgeRateLimited, time.Now().Add(secondaryPause)
		if secondary.RetryAfter != nil {
			out.Until = time.Now().Add(*secondary.RetryAfter)
		}
	case errors.As(err, &app):
		if app.Response == nil {
			break
		}
		if app.Response.Body != nil {
			app.Response.Body.Close()
		}
		out.Kind, out.Until = kindOf(app.Response)
		// An App that is not installed says nothing about the runners behind it.
		if out.Kind == fleet.ForgeNotFound || out.Kind == fleet.ForgeInvalid {
			out.Kind = fleet.ForgeUnauthorized
		}
	case errors.As(err, &answer) && answer.Response != nil:
		out.Kind, out.Until = kindOf(answer.Response)
	}
	return out
}

func kindOf(res *http.Response) (fleet.ForgeErrorKind, time.Time) {
	until, limited := limitOf(res.Header)
	switch code := res.StatusCode; {
	case code == http.StatusTooManyRequests:
		if !limited {
			until = time.Now().Add(secondaryPause)
		}
		return fleet.ForgeRateLimited, until
	case code == http.StatusForbidden && limited:
		return fleet.ForgeRateLimited, until
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return fleet.ForgeUnauthorized, time.Time{}
	case code == http.StatusNotFound:
		return fleet.ForgeNotFound, time.Time{}
	case code == http.StatusConflict:
		return fleet.ForgeConflict, time.Time{}
	case code >= 400 && code < 500:
		return fleet.ForgeInvalid, time.Time{}
	}
	return fleet.ForgeUnavailable, time.Time{}
}

// limitOf reads from the headers of an answer until when there is a rate limit.
func limitOf(h http.Header) (time.Time, bool) {
	if seconds, err := strconv.Atoi(h.Get("Retry-After")); err == nil && seconds >= 0 {
		return time.Now().Add(time.Duration(seconds) * time.Second), true
	}
	if h.Get("X-RateLimit-Remaining") != "0" {
		return time.Time{}, false
	}
	if reset, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil {
		return time.Unix(reset, 0), true
	}
	return time.Now().Add(secondaryPause), true
}
