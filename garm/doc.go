// Package garm holds the wire contract of a GARM (GitHub Actions Runner Manager) server: the values that travel over
// its REST API and event stream, and the kinds of error that a caller can act on.
//
// The types read every answer of GARM v0.1.5 to v0.2.1. An absent key, null and the zero value mean the same; where two
// releases spell a key differently, both spellings are read and both are written. The package uses the standard
// library only, so that any program may import it.
package garm
