// Package provider runs external providers: programs that make and remove machines, each run once per operation by the
// protocol of package garm/provider. It bounds how many run, how long they run and how much they may say, and checks
// what they answer.
package provider
