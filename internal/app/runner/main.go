// Package runner wires the program garm-runner.
package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/garm-operator/garm-operator/internal/runner"
)

const usage = `usage: garm-runner [COMMAND [ARGUMENT...]]

Fetches the credentials of a GitHub Actions runner from a GARM server, starts COMMAND (default ./run.sh), which is the
runner, and reports to the server. The configuration is in the environment:

  METADATA_URL, CALLBACK_URL   where the server answers
  INSTANCE_TOKEN_FILE          file with the instance token, or - for standard input
  JIT_CONFIG_ENABLED           true: the credentials are ready at METADATA_URL; default false: register by token
  RUNNER_URL, RUNNER_NAME      what to register to, and as what; needed without JIT_CONFIG_ENABLED
  RUNNER_LABELS, RUNNER_GROUP  labels, separated by commas, and the runner group
  RUNNER_DIR                   folder of the runner; default the working directory
  RUNNER_CONFIGURE_COMMAND     what registers the runner by token; default ./config.sh
  RUNNER_READY_LINE            what the runner prints once it is connected; default "Listening for Jobs"
  RUNNER_READY_TIMEOUT         how long it has until then; default 2m
  CA_CERT_FILE                 PEM certificates to trust besides the system's
`

// Exit codes besides those of the runner itself.
const (
	exitFailure = 1
	exitUsage   = 2
)

// Main runs the program and returns its exit code, which is the runner's once that has started.
func Main(args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
		_, _ = fmt.Fprint(stdout, usage)
		return 0
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	config, err := runner.ConfigFromEnv(getenv, stdin, args)
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "garm-runner: %v\n", err)
		return exitUsage
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	bootstrap, err := runner.New(config, stdout, log)
	if err == nil {
		err = bootstrap.Run(context.Background(), signals)
	}
	var exit *runner.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.Code > 0:
		log.Error("the runner failed", "error", err)
		return exit.Code
	}
	log.Error("the runner failed", "error", err)
	return exitFailure
}
