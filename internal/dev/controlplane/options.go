package controlplane

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// AssetsVariable names the environment variable that holds the directory of the control plane's programs.
const AssetsVariable = "KUBEBUILDER_ASSETS"

// ErrNoAssets means that the programs to run are not there. The text around it says how to get them.
var ErrNoAssets = errors.New("the control plane's programs are missing")

// Options say how a control plane is started. The zero value is a bare API server without custom resources.
type Options struct {
	// Assets is the directory that holds the programs etcd, kube-apiserver and kube-controller-manager. Default: the value of KUBEBUILDER_ASSETS.
	Assets string

	// CRDs holds custom resource definitions, one or more a file, in its *.yaml files at any depth; os.DirFS makes one of a
	// directory. Start waits until they are served. Default: none.
	CRDs fs.FS

	// Audit turns the audit log on, see ControlPlane.AuditEvents. Default: off.
	Audit bool

	// AuditReads, with Audit, records also what is only read outside the project's group. Default: off.
	AuditReads bool

	// ControllerManager runs kube-controller-manager with the controllers of namespaces, garbage and service accounts. Without it
	// a namespace that is deleted never goes, and nothing follows its owner. Default: off.
	ControllerManager bool

	// Output receives what the programs write. Default: discarded.
	Output io.Writer
}

// programs holds the paths of what is run.
type programs struct {
	etcd, apiServer, controllerManager string
}

func (o Options) programs() (programs, error) {
	dir := o.Assets
	if dir == "" {
		dir = os.Getenv(AssetsVariable)
	}
	if dir == "" {
		return programs{}, fmt.Errorf(`%w: %s is not set; run "export %s=$(make -s controlplane)"`, ErrNoAssets, AssetsVariable, AssetsVariable)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return programs{}, fmt.Errorf("resolve the directory of the control plane's programs: %w", err)
	}
	found := programs{
		etcd: filepath.Join(dir, "etcd"), apiServer: filepath.Join(dir, "kube-apiserver"), controllerManager: filepath.Join(dir, "kube-controller-manager"),
	}
	needed := []string{found.etcd, found.apiServer}
	if o.ControllerManager {
		needed = append(needed, found.controllerManager)
	}
	for _, path := range needed {
		if _, err := os.Stat(path); err != nil {
			return programs{}, fmt.Errorf(`%w in %s (%w); run "make controlplane"`, ErrNoAssets, dir, err)
		}
	}
	return found, nil
}
