package lifecycle_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// replica is one process of the operator, with a proxy of its own that counts what it asks of GARM; nil with an embedded server.
type replica struct {
	proxy  *garmproxy.Proxy
	health string
	cmd    *exec.Cmd
	out    *stack.Output
}

// replica starts a process that uses the environment's server.
func (e *env) replica() *replica {
	e.t.Helper()
	proxy, err := garmproxy.Start(e.ServerURL())
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(proxy.Close)
	password := filepath.Join(e.t.TempDir(), "password")
	if err := os.WriteFile(password, []byte(stack.Password), 0o600); err != nil {
		e.t.Fatal(err)
	}
	r := e.process("--garm-server="+proxy.URL(), "--garm-username="+stack.User, "--garm-email="+stack.Email, "--garm-password-file="+password)
	r.proxy = proxy
	return r
}

// process starts the operator with leader election and some flags.
func (e *env) process(flags ...string) *replica {
	e.t.Helper()
	operator, err := build()
	if err != nil {
		e.t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(e.plane.Kubeconfig)
	if err != nil {
		e.t.Fatal(err)
	}
	config.Contexts[config.CurrentContext].Namespace = e.namespace // where the lease lies
	kubeconfig := filepath.Join(e.t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		e.t.Fatal(err)
	}
	r := &replica{health: freeAddress(e.t), out: &stack.Output{}}
	r.cmd = exec.Command(operator.Path("garm-operator"), append(flags,
		"--kubeconfig="+kubeconfig, "--operator-leader-election", "--operator-watch-namespace="+e.namespace, "--operator-runner-reconciliation",
		"--operator-metrics-bind-address="+freeAddress(e.t), "--operator-health-probe-bind-address="+r.health,
	)...)
	r.cmd.Stdout, r.cmd.Stderr = r.out, r.out
	if err := r.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		if r.cmd.ProcessState == nil {
			_ = r.cmd.Process.Kill()
			_ = r.cmd.Wait()
		}
		if e.t.Failed() {
			e.t.Log(r.out.String())
		}
	})
	e.until(func() error { return healthy(e.ctx, r.health) })
	return r
}

// kill ends the process as a lost machine does, and returns when.
func (r *replica) kill() time.Time {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
	return time.Now()
}

// stop ends the process as Kubernetes does, and returns when it was asked to. It has to end well.
func (e *env) stop(r *replica) time.Time {
	e.t.Helper()
	asked := time.Now()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		e.t.Fatal(err)
	}
	if err := r.cmd.Wait(); err != nil {
		e.t.Errorf("a replica that is asked to stop ends with %v", err)
	}
	if log := r.out.String(); strings.Contains(log, "panic") || strings.Contains(log, "goroutine ") {
		e.t.Error("a replica that is asked to stop breaks down")
	}
	return asked
}

// Two replicas share the work of one: both are healthy, one acts. When it is killed in the middle of work the other goes on
// within 20 seconds, when it is asked to stop at once; nothing is done twice, and nothing is lost.
func TestReplicas(t *testing.T) {
	t.Parallel()
	e := setup(t)
	pools := e.Pools(18)
	if err := e.Apply(e.ctx, append(e.Base(), pools[:6]...)...); err != nil {
		t.Fatal(err)
	}
	first := e.replica()
	e.ready(6)
	second := e.replica()
	e.until(func() error { return healthy(e.ctx, first.health) })
	if counts := second.proxy.Counts(); len(counts) > 0 {
		t.Fatalf("the second replica talks to GARM while the first one leads:\n%s", counts)
	}

	if err := e.Apply(e.ctx, pools[6:12]...); err != nil {
		t.Fatal(err)
	}
	killed := first.kill()
	e.follows(second, killed, 20*time.Second)
	e.ready(12)

	third := e.replica()
	if counts := third.proxy.Counts(); len(counts) > 0 {
		t.Fatalf("the third replica talks to GARM while the second one leads:\n%s", counts)
	}
	if err := e.Apply(e.ctx, pools[12:]...); err != nil {
		t.Fatal(err)
	}
	stopped := e.stop(second)
	e.follows(third, stopped, 10*time.Second) // a lease that is not given back would last longer
	e.ready(18)
	e.stop(third)

	for _, r := range []*replica{first, second, third} {
		if n := r.proxy.Counts().Of("DELETE", "", 0); n > 0 {
			t.Errorf("%d deletions", n)
		}
	}
}

// follows waits until a replica acts, which has to be soon after another has ended.
func (e *env) follows(r *replica, ended time.Time, within time.Duration) {
	e.t.Helper()
	e.until(func() error {
		if len(r.proxy.Counts()) == 0 {
			return errors.New("it does not act yet")
		}
		return nil
	})
	if took := time.Since(ended); took > within {
		e.t.Errorf("it took %s until the next replica acted, more than %s", took, within)
	}
}
