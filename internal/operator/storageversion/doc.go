// Package storageversion has resources that were stored in an old version of their kind written again, so that nothing but
// the present version is stored and nobody has to convert what is read.
//
// It works once, on the leader, and does nothing when the definitions say that nothing old is stored. An operator that must
// not speak for a whole cluster notes on the definitions which namespaces it is done with, and does nothing there until they
// change. A rewrite changes nothing of a resource: no field, no generation, no reconcile follows from it. So it is done to
// paused resources, too.
package storageversion
