// Package dev wires the program garm-dev.
package dev

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/garm-operator/garm-operator/garm/provider"
	"github.com/garm-operator/garm-operator/internal/dev/localprovider"
)

// streams are what a subcommand reads and writes.
type streams struct {
	getenv         func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
}

// Main runs the program and returns its exit code. GARM starts a provider without arguments and describes the call in
// the environment, so that decides first; otherwise the first argument names a subcommand.
func Main(args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if getenv(provider.EnvCommand) != "" {
		return localprovider.Main(ctx, getenv, stdin, stdout, stderr)
	}
	root := newRoot(streams{getenv: getenv, stdin: stdin, stdout: stdout, stderr: stderr})
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		_, _ = fmt.Fprintf(stderr, "garm-dev: %v\n", err)
		return 1
	}
	return 0
}

func newRoot(io streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "garm-dev",
		Short: "Stand-ins for developing and showing garm-operator",
		Long: "Stand-ins for developing and showing garm-operator. Started by GARM, with " + provider.EnvCommand +
			" in the environment, it is an external provider whose machines are local processes.",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.SetIn(io.stdin)
	root.SetOut(io.stdout)
	root.SetErr(io.stderr)
	root.AddCommand(newDemo(io), newGitHub(io), newRunner(io))
	return root
}
