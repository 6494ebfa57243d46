// Package remotetest has a GARM server in memory, for tests of what talks to one through remote.Client: it keeps
// objects, sends events, counts calls and fails on demand. What goes over the wire it does not show.
package remotetest
