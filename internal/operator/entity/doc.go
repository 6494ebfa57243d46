// Package entity is what Enterprise, Organization and Repository have in common: they differ in their names alone, and in
// which calls make them.
package entity
