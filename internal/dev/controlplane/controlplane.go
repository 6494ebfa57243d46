package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/garm-operator/garm-operator/internal/dev/guard"
)

const (
	readyTimeout = time.Minute // for what a running API server needs to become usable
	clientQPS    = 1000
	clientBurst  = 2000
)

// ControlPlane is a running control plane. It lives until Stop is called or the process that started it ends, however it ends.
type ControlPlane struct {
	// Kubeconfig is the path of a file with which kubectl is the cluster's administrator.
	Kubeconfig string

	// AuditLog is the path of the audit log, empty when Options.Audit is off. AuditEvents reads it.
	AuditLog string

	audit     auditTrail
	dir       string
	guard     *guard.Guard
	processes *envtest.ControlPlane
	manager   *controllerManager
	admin     *rest.Config
	token     string
	mapper    meta.RESTMapper

	stop sync.Once
	err  error
}

// Start starts etcd, kube-apiserver and what else is asked for, installs the custom resource definitions and returns once they are served, which takes
// about three seconds. The error is ErrNoAssets when the programs are missing. When ctx ends while it starts, everything is
// stopped again and ctx's error is returned; a later end of ctx has no effect.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	programs, err := options.programs()
	if err != nil {
		return nil, err
	}
	crds, err := readCRDs(options.CRDs)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "garm-controlplane-")
	if err != nil {
		return nil, fmt.Errorf("make the directory of the control plane: %w", err)
	}
	guarding, err := guard.New(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	plane := &ControlPlane{dir: dir, guard: guarding}
	if err := plane.start(ctx, options, programs, crds); err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	return plane, nil
}

func (p *ControlPlane) start(
	ctx context.Context, options Options, programs programs, crds []*apiextensionsv1.CustomResourceDefinition,
) error {
	if err := p.startProcesses(ctx, options, programs); err != nil {
		return err
	}
	if err := p.useToken(); err != nil {
		return err
	}
	if err := p.makeMapper(); err != nil {
		return err
	}
	if err := waitForDefaultNamespace(ctx, p.admin); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := envtest.InstallCRDs(p.admin, envtest.CRDInstallOptions{
		CRDs:    crds,
		Scheme:  runtime.NewScheme(), // no kind is converted by a webhook of envtest's making
		MaxTime: readyTimeout,
	})
	if err != nil {
		return fmt.Errorf("install the custom resource definitions: %w", err)
	}
	if options.ControllerManager {
		if err := p.startControllerManager(ctx, options, programs.controllerManager); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// waitForDefaultNamespace waits for what the API server creates only after it has said that it is healthy.
func waitForDefaultNamespace(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client of the control plane: %w", err)
	}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, readyTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("wait for the namespace %s: %w", metav1.NamespaceDefault, err)
	}
	return nil
}

// Config returns a new configuration for a client that is the cluster's administrator, practically without a rate limit.
func (p *ControlPlane) Config() *rest.Config {
	return rest.CopyConfig(p.admin)
}

func (p *ControlPlane) makeMapper() error {
	client, err := rest.HTTPClientFor(p.admin)
	if err != nil {
		return fmt.Errorf("make a client of the control plane: %w", err)
	}
	if p.mapper, err = apiutil.NewDynamicRESTMapper(p.admin, client); err != nil {
		return fmt.Errorf("make a client of the control plane: %w", err)
	}
	return nil
}

// Mapper knows what the API server serves. It asks once for all clients that share it; each would else do so by itself.
func (p *ControlPlane) Mapper() meta.RESTMapper { return p.mapper }

// AddUser makes a user known to the API server and returns the configuration for its clients. What the user may do is decided
// by RBAC; the name is what the audit log shows.
func (p *ControlPlane) AddUser(name string, groups ...string) (*rest.Config, error) {
	user, err := p.processes.AddUser(envtest.User{Name: name, Groups: groups}, limits())
	if err != nil {
		return nil, fmt.Errorf("add user %s to the control plane: %w", name, err)
	}
	return user.Config(), nil
}

// limits has next to none, and compresses nothing for a server on the same machine.
func limits() *rest.Config {
	return &rest.Config{QPS: clientQPS, Burst: clientBurst, DisableCompression: true}
}

// Stop ends all processes and removes every file of the control plane, the kubeconfig and the audit log with it. Clients
// should be stopped before. Calls after the first return the first one's error.
func (p *ControlPlane) Stop() error {
	p.stop.Do(func() {
		p.err = errors.Join(p.manager.stop(), p.stopProcesses(), p.guard.Release())
	})
	return p.err
}
