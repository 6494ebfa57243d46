package dev

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/garm-operator/garm-operator/internal/dev/simrunner"
)

// tokenVariable is where the GitHub runner, too, looks for its registration token.
const tokenVariable = "ACTIONS_RUNNER_INPUT_TOKEN"

// newRunner is the subcommand that stands for the GitHub runner in the working directory.
func newRunner(io streams) *cobra.Command {
	cmd := &cobra.Command{Use: "runner", Short: "Be a simulated GitHub Actions runner in the working directory"}
	cmd.AddCommand(newRunnerConfigure(io), &cobra.Command{
		Use:   "run",
		Short: "Connect, work on jobs, and end when the one job of an ephemeral runner is done",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return simrunner.Run(cmd.Context(), ".", io.stdout)
		},
	})
	return cmd
}

// newRunnerConfigure takes the arguments of the GitHub runner's config.sh.
func newRunnerConfigure(io streams) *cobra.Command {
	c := simrunner.Configuration{Dir: "."}
	var ignored bool
	var work string
	cmd := &cobra.Command{
		Use:   "configure",
		Short: "Register the runner with the token in " + tokenVariable,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.Token = io.getenv(tokenVariable); c.Token == "" {
				return errors.New(tokenVariable + " is not set: put the registration token there")
			}
			return simrunner.Configure(cmd.Context(), c, io.stdout)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.URL, "url", "", "address of the repository, organization or enterprise")
	flags.StringVar(&c.Name, "name", "", "name of the runner")
	flags.StringSliceVar(&c.Labels, "labels", nil, "labels, separated by commas")
	flags.StringVar(&c.Group, "runnergroup", "", "runner group")
	flags.BoolVar(&c.NoDefaultLabels, "no-default-labels", false, "add no labels for the platform")
	flags.BoolVar(&c.Ephemeral, "ephemeral", false, "take one job only")
	flags.BoolVar(&ignored, "unattended", false, "accepted; it never asks")
	flags.BoolVar(&ignored, "disableupdate", false, "accepted; it never updates itself")
	flags.StringVar(&work, "work", "", "accepted; it has no work folder")
	for _, name := range []string{"url", "name"} {
		_ = cmd.MarkFlagRequired(name)
	}
	return cmd
}
