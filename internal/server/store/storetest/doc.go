// Package storetest is what every database of the server has to pass: the contract of the interfaces that the fleet
// engine and the use cases own, as a suite of tests.
package storetest
