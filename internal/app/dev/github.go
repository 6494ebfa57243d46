package dev

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
)

// newGitHub is the subcommand that runs the GitHub simulator alone.
func newGitHub(io streams) *cobra.Command {
	opt := githubsim.Options{Log: slog.New(slog.NewTextHandler(io.stderr, nil))}
	cmd := &cobra.Command{
		Use:   "github",
		Short: "Run the GitHub simulator until it is interrupted; it accepts every token",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			server := githubsim.New(opt)
			if err := server.Start(); err != nil {
				return err
			}
			defer server.Close()
			_, _ = fmt.Fprintln(io.stdout, server.URL())
			<-cmd.Context().Done()
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opt.Listen, "listen", "127.0.0.1:0", "address to listen on; port 0 is a free one")
	flags.StringVar(&opt.BaseURL, "base-url", "", "web address that answers and payloads show (default the address that it listens on)")
	flags.StringSliceVar(&opt.RunnerGroups, "runner-group", nil, "runner groups of every organization and enterprise, besides Default")
	flags.StringToStringVar(&opt.Enterprises, "enterprise", nil, "enterprise of an organization, as login=slug")
	return cmd
}
