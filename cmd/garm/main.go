// Command garm is a GARM-compatible server: it keeps fleets of GitHub Actions runners.
package main

import (
	"context"
	"os"

	_ "golang.org/x/crypto/x509roots/fallback" // images without the files of authorities know the public ones

	"github.com/garm-operator/garm-operator/internal/app/garm"
)

func main() {
	os.Exit(garm.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
