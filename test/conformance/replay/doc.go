// Package replay sends recorded conversations with a GARM server to another server and says how far its answers agree.
//
// A recording is a file of lines, one [Exchange] each: a request and its answer, or a step of a websocket. What differs
// from run to run stands as a placeholder such as <repo-id-1>: the first answer that shows it binds it, from then on it
// has to be the same value everywhere, and requests are filled with it. Three things are counted for each exchange: the
// status, the shape (kind of body, media type, keys and the types of their values) and the values. Lists agree in any
// order; keys that only the tested server sends are fine; an empty list is as good as a recorded null.
package replay
