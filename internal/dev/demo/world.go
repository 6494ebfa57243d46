package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/garm/client"
	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
	"github.com/garm-operator/garm-operator/internal/dev/guard"
)

// world is all that the demo has started, and what it has seen.
type world struct {
	options Options

	dir      string
	guard    *guard.Guard
	plane    *controlplane.ControlPlane
	kube     kube.Client
	github   *githubsim.Server
	garm     *program
	garmURL  string
	password string
	session  *client.Client
	operator *program

	objects      []*unstructured.Unstructured
	namespace    string
	controllerID string
	firstIdle    time.Time
	jobs         []githubsim.Job
	served       map[string]bool
	summary      string
}

// stop ends everything in the reverse order of its start and removes every file.
func (w *world) stop() error {
	var errs []error
	if w.operator != nil {
		errs = append(errs, w.operator.stop())
	}
	if w.garm != nil {
		errs = append(errs, w.garm.stop())
	}
	errs = append(errs, w.removeMachines())
	if w.github != nil {
		w.github.Close()
	}
	if w.plane != nil {
		errs = append(errs, w.plane.Stop())
	}
	if w.guard != nil {
		errs = append(errs, w.guard.Forget(), w.guard.Release())
	}
	return errors.Join(errs...)
}

// ended delivers the name of a program that ends by itself.
func (w *world) ended() <-chan string {
	name := make(chan string, 2)
	for _, p := range []*program{w.garm, w.operator} {
		if p == nil {
			continue
		}
		go func() {
			<-p.done
			name <- p.name
		}()
	}
	return name
}

// explain prints what the programs said last.
func (w *world) explain(out io.Writer) {
	for _, p := range []*program{w.garm, w.operator} {
		if p != nil {
			fmt.Fprintf(out, "\nlast words of %s:\n%s\n", p.name, p.tail(20))
		}
	}
}

// invite prints what a user can try now.
func (w *world) invite(out io.Writer) {
	fmt.Fprintf(out, `%s

Everything stays up until Ctrl-C. In another terminal:

  export KUBECONFIG=%s
  kubectl -n %s get pools,runners
  kubectl -n %s scale pool %s --replicas=3
  kubectl -n %s get runners --watch

  queue a job:   curl -s %s/_sim/jobs -d '{"repo": "%s", "labels": ["%s"], "duration": "20s"}'
  GARM's API:    %s  (user %s, password in %s)
  logs:          %s

`, w.summary, w.plane.Kubeconfig, w.namespace, w.namespace, w.pools()[0].name, w.namespace,
		w.github.URL(), w.pools()[0].repo, w.pools()[0].tags[0], w.garmURL, adminUser, w.passwordFile(), filepath.Join(w.dir, "logs"))
}

// newDir makes the folder of the demo, at the first call.
func (w *world) newDir() error {
	dir, err := os.MkdirTemp("", "garm-demo-")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	if w.guard, err = guard.New(dir); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	w.dir = dir
	return errors.Join(os.Mkdir(filepath.Join(dir, "logs"), 0o700), os.Mkdir(filepath.Join(dir, "machines"), 0o700))
}

func (w *world) startControlPlane(ctx context.Context) (string, error) {
	if err := w.newDir(); err != nil {
		return "", err
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{CRDs: crds()})
	if err != nil {
		return "", err
	}
	w.plane = plane
	w.kube, err = kube.New(plane.Config(), kube.Options{})
	if err != nil {
		return "", err
	}
	return plane.Config().Host, nil
}

func (w *world) startGitHub(context.Context) (string, error) {
	w.github = githubsim.New(githubsim.Options{Tokens: map[string]githubsim.Token{githubToken: {Login: "demo"}}})
	if err := w.github.Start(); err != nil {
		return "", err
	}
	for _, fault := range w.options.Faults {
		if _, err := w.github.AddFault(fault); err != nil {
			return "", err
		}
	}
	return w.github.URL(), nil
}
