// Package provider holds the external provider protocol of GARM, for both sides: a provider is a program that GARM runs
// once for each operation on a machine. What to do travels in environment variables, what to make in a JSON value on
// standard input, the answer as JSON on standard output, and the verdict as the exit code.
//
// A server describes an operation as a Call, gives Call.Environ to the program and reads the answer with
// DecodeInstance. A provider implements Provider and calls Serve.
//
// Two interface versions exist. In v0.1.1 every operation on a machine also names its pool and carries the pool's extra
// specs; in v0.1.0 only CreateInstance and ListInstances name the pool. The package uses the standard library only.
package provider
