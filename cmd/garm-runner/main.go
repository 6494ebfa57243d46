// Command garm-runner turns a machine into a GitHub Actions runner: it fetches the runner's credentials from a GARM
// server, starts the runner and reports to the server.
package main

import (
	"os"

	"github.com/garm-operator/garm-operator/internal/app/runner"
)

func main() {
	os.Exit(runner.Main(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}
