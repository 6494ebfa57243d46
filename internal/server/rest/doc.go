// Package rest serves the use cases over HTTP as GARM servers do: paths, codes, bodies and event stream. It is the only
// place where the wire contract and the nouns of the server meet, and it decides nothing.
package rest
