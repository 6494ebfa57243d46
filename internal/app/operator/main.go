package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// Main runs the program until ctx ends and returns its exit code.
func Main(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	loaded, err := operatorconfig.Load(args, environ, stderr)
	var usage *operatorconfig.UsageError
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "garm-operator: %v\nRun garm-operator --help for the flags.\n", err)
		return exitUsage
	case err != nil:
		fmt.Fprintf(stderr, "garm-operator: invalid configuration:\n%v\n", err)
		return exitFailure
	}
	if loaded.DryRun {
		for _, w := range loaded.Warnings {
			fmt.Fprintln(stderr, "warning:", w)
		}
		if err := loaded.Show(stdout); err != nil {
			return exitFailure
		}
		return exitOK
	}
	log := logger(loaded.Config.Operator, stderr)
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	standardLog(log)
	for _, w := range loaded.Warnings {
		log.Info(w)
	}
	if err := Run(ctx, loaded.Config, Options{Log: log}); err != nil {
		log.Error(err, "garm-operator stopped")
		return exitFailure
	}
	return exitOK
}

// standardLog sends there what goes to the standard library's loggers, such as the complaints of its HTTP server about handshakes:
// a reader of JSON gets nothing else.
func standardLog(log logr.Logger) {
	slog.SetDefault(slog.New(logr.ToSlogHandler(log)))
}

func logger(cfg operatorconfig.Operator, out io.Writer) logr.Logger {
	if cfg.LogFormat == "json" {
		return logr.FromSlogHandler(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: slog.Level(-cfg.LogVerbosityLevel)}))
	}
	c := textlogger.NewConfig(textlogger.Verbosity(cfg.LogVerbosityLevel), textlogger.Output(out))
	return textlogger.NewLogger(c)
}
