// Package garmproxy stands in front of a GARM server: it counts requests, makes them fail on demand, mistreats the
// event stream, and can speak as GARM v0.1.5 does. It changes answers; it never replaces the server.
package garmproxy
