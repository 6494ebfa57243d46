// Package admission refuses what the rules of the custom resource definitions cannot see: text that is no JSON, and what depends
// on other resources.
//
// A rule here never stands in the way of deletion, of a change of metadata, or of a change of what is right on a resource that
// was wrong before. What cannot be checked is let through: the controllers deal with it.
package admission
