package scale_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/freeport"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/dev/wait"
)

// patience bounds every wait.
const patience = 10 * time.Minute

// fleet is one environment with the operator as a program.
type fleet struct {
	*stack.Stack
	tb        testing.TB
	ctx       context.Context
	shared    *shared
	namespace string
	flags     []string
	operator  *exec.Cmd
	begun     time.Time // when the operator was started first
	log       string
}

// newFleet brings up everything but the operator.
func newFleet(tb testing.TB, dialect garmproxy.Dialect, flags ...string) *fleet {
	tb.Helper()
	s := environment(tb)
	dir := tb.TempDir()
	provider, err := stack.WriteProvider(dir)
	if err != nil {
		tb.Fatal(err)
	}
	f := &fleet{tb: tb, ctx: context.Background(), shared: s, namespace: fmt.Sprintf("%.50s-%d", namespaceOf(tb), time.Now().UnixMilli()%1e9), flags: flags, log: filepath.Join(dir, "operator.log")}
	up, err := stack.Up(f.ctx, stack.Options{Plane: s.plane, Dir: dir, Namespace: f.namespace, Dialect: dialect, Provider: provider})
	if err != nil {
		tb.Fatal(err)
	}
	f.Stack = up
	tb.Cleanup(func() {
		f.kill()
		if tb.Failed() {
			tb.Logf("last words of the operator:\n%s", f.words())
		}
		if err := f.Down(); err != nil {
			tb.Error(err)
		}
	})
	return f
}

// start starts the operator.
func (f *fleet) start() {
	f.tb.Helper()
	log, err := os.OpenFile(f.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		f.tb.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	metrics, err1 := freeport.Address(f.ctx)
	health, err2 := freeport.Address(f.ctx)
	if err := errors.Join(err1, err2); err != nil {
		f.tb.Fatal(err)
	}
	args := append([]string{
		"--kubeconfig=" + f.shared.plane.Kubeconfig, "--garm-server=" + f.Proxy.URL(), "--garm-username=" + stack.User, "--garm-email=" + stack.Email,
		"--operator-watch-namespace=" + f.namespace, "--operator-metrics-bind-address=" + metrics, "--operator-health-probe-bind-address=" + health,
	}, f.flags...)
	f.operator = exec.Command(f.shared.programs.Path("garm-operator"), args...)
	f.operator.Env = append(os.Environ(), "GARM_PASSWORD="+stack.Password, "GOGC=100", "GOMEMLIMIT=off") // its memory is what users see, however tests run
	f.operator.Stdout, f.operator.Stderr = log, log
	if f.begun.IsZero() {
		f.begun = time.Now()
	}
	if err := f.operator.Start(); err != nil {
		f.tb.Fatal(err)
	}
}

// kill ends the operator as a lost machine does.
func (f *fleet) kill() {
	if f.operator == nil {
		return
	}
	_ = f.operator.Process.Kill()
	_ = f.operator.Wait()
	f.operator = nil
}

// stop ends the operator as Kubernetes does, and fails the test if it does not end well.
func (f *fleet) stop() {
	f.tb.Helper()
	if err := f.operator.Process.Signal(syscall.SIGTERM); err != nil {
		f.tb.Fatal(err)
	}
	if err := f.operator.Wait(); err != nil {
		f.tb.Errorf("the operator stopped with %v", err)
	}
	f.operator = nil
}

// words are the last lines of the operator's log.
func (f *fleet) words() string {
	data, err := os.ReadFile(f.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}

// until waits for check.
func (f *fleet) until(check func() error) {
	f.tb.Helper()
	ctx, cancel := context.WithTimeoutCause(f.ctx, patience, fmt.Errorf("not within %s", patience))
	defer cancel()
	if err := wait.Until(ctx, check); err != nil {
		f.tb.Fatal(err)
	}
}

// allReady waits until all n Pools are Ready and returns them.
func (f *fleet) allReady(n int) []v1beta1.Pool {
	f.tb.Helper()
	ctx, cancel := context.WithTimeoutCause(f.ctx, patience, fmt.Errorf("not within %s", patience))
	defer cancel()
	pools, err := f.WaitAllReady(ctx, n)
	if err != nil {
		f.tb.Fatalf("%v\n%s", err, f.Proxy.Counts())
	}
	return pools
}

// remotePools are the pools at the server.
func (f *fleet) remotePools() []garm.Pool {
	f.tb.Helper()
	pools, err := f.GARM.ListPools(f.ctx)
	if err != nil {
		f.tb.Fatal(err)
	}
	return pools
}

// spent returns the requests so far, and fails the test if they are more than allowed. Some are made at intervals: where the
// machine is so busy that all takes minutes, each minute may cost what it may at rest.
func (f *fleet) spent(allowed int) garmproxy.Counts {
	f.tb.Helper()
	allowed += restRequests * int(time.Since(f.begun)/time.Minute)
	counts := f.Proxy.Counts()
	if got := counts.Requests(); got > allowed {
		f.tb.Errorf("%d requests, more than %d:\n%s", got, allowed, counts)
	}
	return counts
}

// oneEach checks that n Pools stand for n pools, each for one of its own.
func (f *fleet) oneEach(pools []v1beta1.Pool, n int) {
	f.tb.Helper()
	at := map[string]bool{}
	for _, p := range f.remotePools() {
		at[p.ID] = true
	}
	if len(at) != n {
		f.tb.Errorf("the server has %d pools, not %d", len(at), n)
	}
	owner := map[string]string{}
	for _, p := range pools {
		if other, taken := owner[p.Status.ID]; taken {
			f.tb.Errorf("pool %s is claimed by %s and %s", p.Status.ID, p.Name, other)
		}
		owner[p.Status.ID] = p.Name
		if !at[p.Status.ID] {
			f.tb.Errorf("%s stands for pool %s, which the server does not have", p.Name, p.Status.ID)
		}
	}
}

// writes counts the writes of the operator to the project's group in the namespace, by the audit log.
func (f *fleet) writes() int {
	f.tb.Helper()
	events, err := f.shared.plane.AuditEvents()
	if err != nil {
		f.tb.Fatal(err)
	}
	n := 0
	for _, e := range events {
		if e.Write() && e.Object.Namespace == f.namespace && e.Object.Group == v1beta1.GroupVersion.Group && strings.HasPrefix(e.UserAgent, "garm-operator/") {
			n++
		}
	}
	return n
}
