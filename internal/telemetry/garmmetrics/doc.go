// Package garmmetrics counts the calls of a client of GARM, under the names and labels that dashboards of the known
// operator read.
package garmmetrics
