// Package status keeps the conditions of a resource by the rules of the kstatus convention: Ready always, Reconciling and
// Stalled only while they hold, named conditions beside them, each with the generation it speaks of, and a time that moves
// only when the status does.
package status
