package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	// processTimeout bounds the start and the stop of each program. A busy machine with two cores needs a fraction of it.
	processTimeout = time.Minute

	// startAttempts allows for a port that was free when it was chosen and is not when the program wants it.
	startAttempts = 3
)

// startProcesses starts etcd and kube-apiserver and waits until both are healthy.
func (p *ControlPlane) startProcesses(ctx context.Context, options Options, programs programs) error {
	var failed error
	for range startAttempts {
		if err := ctx.Err(); err != nil {
			return err
		}
		processes, err := p.describe(options, programs)
		if err != nil {
			return err
		}
		p.processes = processes
		err = processes.Start()
		if err == nil {
			return nil
		}
		failed = errors.Join(failed, err)
	}
	return fmt.Errorf("start etcd and kube-apiserver, %d times: %w", startAttempts, failed)
}

// describe says how to run the two programs: everything they write goes below the control plane's own directory.
func (p *ControlPlane) describe(options Options, programs programs) (*envtest.ControlPlane, error) {
	etcd := &envtest.Etcd{
		DataDir:      filepath.Join(p.dir, "etcd"),
		Out:          options.Output,
		Err:          options.Output,
		StartTimeout: processTimeout,
		StopTimeout:  processTimeout,
	}
	apiServer := &envtest.APIServer{
		CertDir:      filepath.Join(p.dir, "apiserver"),
		Out:          options.Output,
		Err:          options.Output,
		StartTimeout: processTimeout,
		StopTimeout:  processTimeout,
	}
	for _, dir := range []string{etcd.DataDir, apiServer.CertDir} {
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
			return nil, fmt.Errorf("make a directory of the control plane: %w", err)
		}
	}
	var err error
	if etcd.Path, err = p.guard.Wrap(programs.etcd); err != nil {
		return nil, err
	}
	if apiServer.Path, err = p.guard.Wrap(programs.apiServer); err != nil {
		return nil, err
	}
	if err := p.writeToken(apiServer); err != nil {
		return nil, err
	}
	if options.Audit {
		if p.AuditLog, err = enableAudit(apiServer.Configure(), p.dir, options.AuditReads); err != nil {
			return nil, err
		}
	}
	return &envtest.ControlPlane{Etcd: etcd, APIServer: apiServer}, nil
}

func (p *ControlPlane) stopProcesses() error {
	if p.processes == nil {
		return nil
	}
	if err := p.processes.Stop(); err != nil {
		return fmt.Errorf("stop etcd and kube-apiserver: %w", err)
	}
	return p.guard.Forget()
}
