// Package operator wires the program garm-operator.
package operator
