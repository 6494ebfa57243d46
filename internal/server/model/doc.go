// Package model holds the nouns of the GARM server: what its store keeps, what the fleet engine decides on and what
// the API shows. It knows no SQL, no HTTP and no wire format, and uses the standard library only.
package model
