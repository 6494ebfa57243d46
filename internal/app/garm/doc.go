// Package garm puts the server together: configuration, database, engine, API. Tests and the operator use it in process;
// cmd/garm runs it as a program.
package garm
