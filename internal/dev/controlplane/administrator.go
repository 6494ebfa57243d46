package controlplane

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	administrator = "admin"
	masters       = "system:masters" // may do everything, whatever RBAC says
)

// writeToken makes the administrator known to an API server before it starts. The administrator has a token, since the API
// server verifies a client's certificate anew at each request.
func (p *ControlPlane) writeToken(apiServer *envtest.APIServer) error {
	p.token = rand.Text()
	path := filepath.Join(p.dir, "tokens.csv")
	if err := os.WriteFile(path, fmt.Appendf(nil, "%s,%s,%[2]s,%s\n", p.token, administrator, masters), 0o600); err != nil {
		return fmt.Errorf("write the administrator's token: %w", err)
	}
	apiServer.Configure().Set("token-auth-file", path)
	return nil
}

// useToken makes the client configuration and the kubeconfig of the administrator.
func (p *ControlPlane) useToken() error {
	user, err := p.processes.AddUser(envtest.User{Name: administrator, Groups: []string{masters}}, limits())
	if err != nil {
		return fmt.Errorf("add the control plane's administrator: %w", err)
	}
	p.admin = user.Config() // the user's own: the kubeconfig is made of it
	p.admin.CertData, p.admin.KeyData, p.admin.BearerToken = nil, nil, p.token
	kubeconfig, err := user.KubeConfig()
	if err != nil {
		return fmt.Errorf("render the administrator's kubeconfig: %w", err)
	}
	p.Kubeconfig = filepath.Join(p.dir, "kubeconfig")
	if err := os.WriteFile(p.Kubeconfig, kubeconfig, 0o600); err != nil {
		return fmt.Errorf("write the administrator's kubeconfig: %w", err)
	}
	return nil
}
