// Package embedded runs this repository's GARM server in the operator's process, on a data directory that it fills by itself.
package embedded
