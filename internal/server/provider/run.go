package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/garm/provider"
	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

const (
	// maxAnswer bounds standard output. A list of thousands of machines fits.
	maxAnswer = 4 << 20
	// maxErrors bounds what is kept of standard error, maxFault what users are shown of it.
	maxErrors = 64 << 10
	maxFault  = 4 << 10
	maxID     = 1 << 10
	// pipeGrace is how long output is waited for after the program has ended, or was killed: something that it started
	// may hold the pipe open.
	pipeGrace = 2 * time.Second
)

// run runs the program once and returns its standard output. Errors are of type *fleet.ProviderError; secrets are taken
// out of their texts.
func (p *External) run(ctx context.Context, pool model.Pool, call provider.Call, input []byte, secrets []string) (answer []byte, err error) {
	op := string(call.Command)
	if p.config.Observe != nil {
		defer func() { p.config.Observe(op, err) }()
	}
	if err := p.running.Acquire(ctx, 1); err != nil {
		return nil, &fleet.ProviderError{Kind: fleet.ProviderTimeout, Op: op, Fault: "the provider was not started: too many runs are under way", Err: err}
	}
	defer p.running.Release(1)
	timeout := p.timeout(pool)
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	out, errs := &capped{most: maxAnswer}, &capped{most: maxErrors}
	cmd := exec.CommandContext(limited, p.path)
	cmd.Env = append(append([]string{}, p.environ...), call.Environ()...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), out, errs
	cmd.WaitDelay = pipeGrace
	ownGroup(cmd)
	started := time.Now()
	err = runLocked(cmd)
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	if limited.Err() != nil && err != nil {
		fault := fmt.Sprintf("the provider was killed after %s, the time that it has", time.Since(started).Round(time.Millisecond))
		if ctx.Err() != nil {
			fault = "the provider was killed"
		}
		return nil, &fleet.ProviderError{Kind: fleet.ProviderTimeout, Op: op, Fault: withText(fault, errs, secrets), Err: limited.Err()}
	}
	if err != nil {
		return nil, failure(op, err, out, errs, secrets)
	}
	if out.overflow {
		return nil, badAnswer(call.Command, fmt.Errorf("%w: it is longer than %d bytes", provider.ErrBadAnswer, maxAnswer))
	}
	return out.buf.Bytes(), nil
}

// runLocked keeps the thread that starts the program until the program has ended: the program is killed when that
// thread dies, so that none goes on when the server was killed.
func runLocked(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}

func failure(op string, err error, out, errs *capped, secrets []string) error {
	failed := &fleet.ProviderError{Kind: fleet.ProviderFailed, Op: op, Err: err}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		failed.Fault = "the provider could not be run: " + scrub(err.Error(), secrets)
		return failed
	}
	switch exit.ExitCode() {
	case provider.ExitNotFound:
		failed.Kind = fleet.ProviderNotFound
	case provider.ExitDuplicate:
		failed.Kind = fleet.ProviderDuplicate
	}
	text := errs
	if errs.buf.Len() == 0 {
		text = out
	}
	failed.Fault = withText("the provider failed ("+exit.String()+")", text, secrets)
	return failed
}

// withText adds the end of what a program has said, which is where it says why it failed.
func withText(fault string, said *capped, secrets []string) string {
	text := strings.TrimSpace(scrub(said.text(secrets), secrets))
	if text == "" {
		return fault
	}
	if cut := len(text) - maxFault; cut > 0 {
		text = "..." + text[cut:]
	}
	return fault + ": " + strings.ToValidUTF8(text, "?")
}
