// Package refs turns a declared reference between two kinds into an index, a watch, a look-up and the list of referrers.
// References stay within a namespace.
package refs
