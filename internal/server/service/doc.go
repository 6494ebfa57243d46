// Package service holds the use cases that the API offers. It decides what is allowed and what a change means; it knows
// no SQL, no HTTP and no process.
package service
