package garm

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/garm-operator/garm-operator/internal/config/garmconfig"
	"github.com/garm-operator/garm-operator/internal/telemetry"
)

// Main runs the server as a program until SIGINT or SIGTERM, and returns its exit code: 0, 1 for a failure, 2 for wrong
// use. SIGHUP reopens the log file.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("garm", flag.ContinueOnError)
	flags.SetOutput(stderr)
	path := flags.String("config", garmconfig.DefaultPath, "`file` with the configuration (TOML)")
	version := flags.Bool("version", false, "print the version and exit")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "garm: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	if *version {
		fmt.Fprintln(stdout, Version)
		return 0
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *path, stdout); err != nil {
		fmt.Fprintln(stderr, "garm:", err)
		return 1
	}
	return 0
}

func run(ctx context.Context, path string, stdout io.Writer) (err error) {
	config, warnings, err := garmconfig.Load(path)
	if err != nil {
		return err
	}
	log, err := telemetry.NewServerLog(telemetry.LogOptions{
		File: config.Logging.LogFile, Fallback: stdout, Level: config.Logging.LogLevel, JSON: config.Logging.LogFormat == "json", Source: config.Logging.LogSource,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	for _, warning := range warnings {
		log.Logger.Warn("The configuration has a key without effect", "warning", warning)
	}
	reopen := make(chan os.Signal, 1)
	signal.Notify(reopen, syscall.SIGHUP)
	defer signal.Stop(reopen)

	server, err := New(ctx, Options{Config: config, Log: log.Logger, LogStream: log})
	if err != nil {
		return err
	}
	for {
		select {
		case <-reopen:
			if err := log.Reopen(); err != nil {
				log.Logger.Error("The log file cannot be reopened", "error", err)
			} else {
				log.Logger.Info("The log file was reopened")
			}
		case err := <-server.Failed():
			return errors.Join(err, server.Close())
		case <-ctx.Done():
			log.Logger.Info("Stopping")
			return server.Close()
		}
	}
}
