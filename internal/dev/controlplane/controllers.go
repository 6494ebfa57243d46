package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// controllers are those of Kubernetes' own that users of the project's resources meet: they finish namespaces, collect what
// owners leave behind, give each namespace its service account and the API server's certificate, and let go of volumes that no
// Pod uses.
const controllers = "namespace-controller,garbage-collector-controller,serviceaccount-controller,root-ca-certificate-publisher-controller," +
	"persistentvolumeclaim-protection-controller"

// controllerManager is a running kube-controller-manager.
type controllerManager struct {
	command *exec.Cmd
	done    chan struct{}
	err     error
}

// startControllerManager starts kube-controller-manager as the cluster's administrator and waits until it works. It listens
// nowhere.
func (p *ControlPlane) startControllerManager(ctx context.Context, options Options, program string) error {
	path, err := p.guard.Wrap(program)
	if err != nil {
		return err
	}
	// No context: one that ends kills the program, and stop is to end it well.
	command := exec.CommandContext(context.Background(), path,
		"--kubeconfig="+p.Kubeconfig, "--controllers="+controllers, "--leader-elect=false", "--secure-port=0",
		"--root-ca-file="+filepath.Join(p.processes.APIServer.CertDir, "apiserver.crt"),
		"--kube-api-qps=500", "--kube-api-burst=1000", "--concurrent-namespace-syncs=10",
	)
	command.Stdout, command.Stderr = options.Output, options.Output
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C at the terminal is for the parent, which stops all in order
	if err := command.Start(); err != nil {
		return fmt.Errorf("start kube-controller-manager: %w", err)
	}
	manager := &controllerManager{command: command, done: make(chan struct{})}
	p.manager = manager
	go func() {
		manager.err = command.Wait()
		close(manager.done)
	}()
	return p.waitForServiceAccount(ctx)
}

// waitForServiceAccount waits for what the controllers make first.
func (p *ControlPlane) waitForServiceAccount(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(p.admin)
	if err != nil {
		return fmt.Errorf("make a client of the control plane: %w", err)
	}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, processTimeout, true, func(ctx context.Context) (bool, error) {
		select {
		case <-p.manager.done:
			return false, fmt.Errorf("it ended by itself: %w", p.manager.err)
		default:
		}
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("wait for kube-controller-manager: %w", err)
	}
	return nil
}

// stop ends the program, which has nothing to tidy up.
func (m *controllerManager) stop() error {
	if m == nil {
		return nil
	}
	_ = m.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-m.done:
		return nil
	case <-time.After(processTimeout):
		_ = m.command.Process.Kill()
		<-m.done
		return errors.New("kube-controller-manager did not stop and was killed")
	}
}
