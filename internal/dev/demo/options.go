package demo

import (
	"io"
	"io/fs"
	"time"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
)

// Options say how the demo runs.
type Options struct {
	// BinDir holds the programs garm, garm-operator, garm-runner and garm-dev. Required.
	BinDir string
	// Samples holds the quickstart manifests in its *.yaml files. Required.
	Samples fs.FS
	// Out gets the progress and the tables. Required.
	Out io.Writer
	// Once ends the demo after the last step. Else it stays up until the context ends.
	Once bool
	// Embedded lets the operator run the GARM server in its own process, without a GarmServerConfig.
	Embedded bool
	// StepTimeout is how long each step may take. Default one minute.
	StepTimeout time.Duration
	// Jobs is how many jobs are queued. Default ten.
	Jobs int
	// Faults are put into the GitHub simulator before anything else starts.
	Faults []githubsim.Fault
}

func (o *Options) setDefaults() {
	if o.StepTimeout == 0 {
		o.StepTimeout = time.Minute
	}
	if o.Jobs == 0 {
		o.Jobs = 10
	}
}
