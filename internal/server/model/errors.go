package model

import (
	"errors"
	"fmt"
)

// ErrorKind says what the caller of a use case did wrong, or that it did nothing wrong.
type ErrorKind int

// Error kinds.
const (
	// KindInternal is every error that is not the caller's.
	KindInternal ErrorKind = iota
	KindNotFound
	KindInvalid
	KindConflict
	KindUnauthorized
	// KindUpstream is an error of the forge that may pass.
	KindUpstream
)

// Error is an error with a kind and a text for the caller. It never holds a secret.
type Error struct {
	Kind ErrorKind
	Text string
	Err  error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Text + ": " + e.Err.Error()
	}
	return e.Text
}

func (e *Error) Unwrap() error { return e.Err }

// NotFound says that there is no such object.
func NotFound(format string, args ...any) error {
	return &Error{Kind: KindNotFound, Text: fmt.Sprintf(format, args...)}
}

// Invalid says that the request cannot be carried out as it is.
func Invalid(format string, args ...any) error {
	return &Error{Kind: KindInvalid, Text: fmt.Sprintf(format, args...)}
}

// Conflict says that the object exists already, or that its state forbids the request.
func Conflict(format string, args ...any) error {
	return &Error{Kind: KindConflict, Text: fmt.Sprintf(format, args...)}
}

// Unauthorized says that the caller did not prove who it is.
func Unauthorized(format string, args ...any) error {
	return &Error{Kind: KindUnauthorized, Text: fmt.Sprintf(format, args...)}
}

// Upstream says that the forge could not answer as it should.
func Upstream(format string, args ...any) error {
	return &Error{Kind: KindUpstream, Text: fmt.Sprintf(format, args...)}
}

// KindOf returns the kind of err, KindInternal where it has none.
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return KindInternal
}

// TextOf returns what the caller may read of err.
func TextOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Text
	}
	return "an error of the server, which its log has"
}

// IsNotFound says whether err means that an object does not exist.
func IsNotFound(err error) bool { return KindOf(err) == KindNotFound }
