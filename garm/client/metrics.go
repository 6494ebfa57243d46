package client

import "time"

// Recorder is told what a Client does. Its methods are called by many goroutines at once. A method is the name of a
// call, such as pool.CreateOrg.
type Recorder interface {
	// Request counts a request that is sent.
	Request(method string)
	// Error counts a call that failed.
	Error(method string)
	// TokenExpiry is when the token of the latest login ends.
	TokenExpiry(at time.Time)
}

type discard struct{}

func (discard) Request(string)        {}
func (discard) Error(string)          {}
func (discard) TokenExpiry(time.Time) {}
