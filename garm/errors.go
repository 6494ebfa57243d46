package garm

import (
	"errors"
	"fmt"
)

// ErrorBody is what a GARM server answers when it refuses or fails.
type ErrorBody struct {
	Error   string `json:"error"`
	Details string `json:"details"`
}

// The two values of ErrorBody.Error on status 409 that mean that the server is not set up yet.
const (
	InitRequired = "init_required"
	URLsRequired = "urls_required"
)

// ErrorKind says what a caller can do about a failed call.
type ErrorKind int

// Kinds of error. Only KindNotFound means that an object does not exist; every kind from KindUnavailable on leaves open
// what the server did.
const (
	// KindUnknown is an answer that fits no other kind.
	KindUnknown ErrorKind = iota
	// KindNotFound: 404 in GARM's own words from a route that exists.
	KindNotFound
	// KindInvalid: 400 and 422; the same request will fail again.
	KindInvalid
	// KindConflict: 409; it exists, or its state forbids the call.
	KindConflict
	// KindUnauthorized: 401 and 403 after a fresh login.
	KindUnauthorized
	// KindInitRequired: the server has no administrator yet.
	KindInitRequired
	// KindURLsRequired: the controller URLs of the server are not set.
	KindURLsRequired
	// KindRateLimited: 429; Error.RetryAfter says how long to wait.
	KindRateLimited
	// KindNoRoute: 404 and 405 from a path that the server does not know, such as one of a later release. It says nothing
	// about any object.
	KindNoRoute
	// KindUnavailable: 5xx.
	KindUnavailable
	// KindTransport: no answer, such as a refused or broken connection.
	KindTransport
	// KindTimeout: no answer in time.
	KindTimeout
	// KindUndecodable: an answer that is not what the route promises.
	KindUndecodable
)

var kindNames = map[ErrorKind]string{
	KindUnknown: "unknown", KindNotFound: "not found", KindInvalid: "invalid", KindConflict: "conflict",
	KindUnauthorized: "unauthorized", KindInitRequired: "init required", KindURLsRequired: "urls required",
	KindRateLimited: "rate limited", KindNoRoute: "no such route", KindUnavailable: "unavailable", KindTransport: "transport", KindTimeout: "timeout",
	KindUndecodable: "undecodable",
}

func (k ErrorKind) String() string { return kindNames[k] }

// KindOf returns the kind of err, or KindUnknown if no Error is in its chain.
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return KindUnknown
}

// IsNotFound says whether err is the server's word that an object does not exist.
func IsNotFound(err error) bool { return KindOf(err) == KindNotFound }

// OutcomeUnknown says whether the call that failed with err may nevertheless have been carried out.
func OutcomeUnknown(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind >= KindUnavailable && !e.NotSent
}

// Error is a failed call to a GARM server. Its text holds no secret.
type Error struct {
	Kind ErrorKind
	// Op is the call, such as "pool.CreateOrg".
	Op string
	// Status is the HTTP status; 0 if there was no answer.
	Status int
	// Title and Details are the server's words.
	Title   string
	Details string
	// RetryAfterSeconds is the server's wish on KindRateLimited and 503; 0 if it has none.
	RetryAfterSeconds int
	// NotSent says that the call certainly did not reach the server: the connection or the login before it failed.
	NotSent bool
	// Err is the cause, if there was no answer.
	Err error
}

func (e *Error) Error() string {
	text := e.Op + ": "
	switch {
	case e.Details != "":
		text += e.Details
	case e.Title != "":
		text += e.Title
	case e.Err != nil:
		text += e.Err.Error()
	default:
		text += e.Kind.String()
	}
	if e.Status != 0 {
		text += fmt.Sprintf(" (status %d)", e.Status)
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }
