// Command garm-dev holds the stand-ins by which garm-operator is developed and shown: a GitHub simulator, a simulated
// runner, and an external provider whose machines are local processes.
package main

import (
	"os"

	"github.com/garm-operator/garm-operator/internal/app/dev"
)

func main() {
	os.Exit(dev.Main(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}
