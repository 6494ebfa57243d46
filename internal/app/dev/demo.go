package dev

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/garm-operator/garm-operator/config/samples/quickstart"
	"github.com/garm-operator/garm-operator/internal/dev/demo"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
)

// newDemo is the subcommand that shows the whole product.
func newDemo(io streams) *cobra.Command {
	opt := demo.Options{Out: io.stdout, Samples: quickstart.Manifests}
	var faults []string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Bring up everything on this machine, run jobs, and stay up until Ctrl-C",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, text := range faults {
				var fault githubsim.Fault
				if err := json.Unmarshal([]byte(text), &fault); err != nil {
					return fmt.Errorf("--fault %s: %w", text, err)
				}
				opt.Faults = append(opt.Faults, fault)
			}
			if opt.BinDir == "" {
				self, err := os.Executable()
				if err != nil {
					return fmt.Errorf("finding the other programs: %w", err)
				}
				opt.BinDir = filepath.Dir(self)
			}
			return demo.Run(cmd.Context(), opt)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&opt.Once, "once", false, "end after the last step, with exit code 0 only if every step was seen to happen")
	flags.BoolVar(&opt.Embedded, "embedded", false, "let the operator run the GARM server in its own process")
	flags.IntVar(&opt.Jobs, "jobs", 0, "how many jobs to queue (default 10)")
	flags.DurationVar(&opt.StepTimeout, "step-timeout", 0, "how long each step may take (default 1m)")
	flags.StringVar(&opt.BinDir, "bin-dir", "", "folder of the programs (default that of this one)")
	flags.StringArrayVar(&faults, "fault", nil, `failure of the GitHub simulator, such as {"match": "generate-jitconfig", "status": 500}`)
	return cmd
}
