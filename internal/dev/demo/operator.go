package demo

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/garm-operator/garm-operator/garm/client"
	"github.com/garm-operator/garm-operator/internal/dev/freeport"
	"github.com/garm-operator/garm-operator/internal/dev/wait"
)

func (w *world) startOperator(ctx context.Context) (string, error) {
	server := []string{
		"--garm-server=" + w.garmURL,
		"--garm-username=" + adminUser,
		"--garm-email=" + adminEmail,
		"--garm-password-file=" + w.passwordFile(),
	}
	if w.options.Embedded {
		var err error
		if server, err = w.embed(ctx); err != nil {
			return "", err
		}
	}
	health, err := freeport.Address(ctx)
	if err != nil {
		return "", err
	}
	metrics, err := freeport.Address(ctx)
	if err != nil {
		return "", err
	}
	w.operator, err = w.startProgram("garm-operator", append(server,
		"--kubeconfig="+w.plane.Kubeconfig,
		"--operator-runner-reconciliation=true",
		"--operator-metrics-bind-address="+metrics,
		"--operator-health-probe-bind-address="+health,
	)...)
	if err != nil {
		return "", err
	}
	if err := w.operator.waitHTTP(ctx, "http://"+health+"/readyz", func(status int) bool { return status == http.StatusOK }); err != nil {
		return "", err
	}
	return "metrics at http://" + metrics + "/metrics", wait.Until(ctx, func() error {
		info, err := w.session.GetController(ctx) // works once the operator has made the administrator
		w.controllerID = info.ControllerID
		return err
	})
}

// embed returns the flags of an operator that runs the server itself, and makes what they name.
func (w *world) embed(ctx context.Context) ([]string, error) {
	address, err := freeport.Address(ctx)
	if err != nil {
		return nil, err
	}
	w.garmURL = "http://" + address
	if err := w.writeProviderConfig(); err != nil {
		return nil, err
	}
	providers := filepath.Join(w.dir, "providers.toml")
	if err := w.writeConfig(providers, map[string]string{}, providersTOML); err != nil {
		return nil, err
	}
	w.session, err = client.New(client.Config{BaseURL: w.garmURL, Username: adminUser, Password: func(context.Context) (string, error) {
		password, err := os.ReadFile(w.passwordFile())
		return strings.TrimSpace(string(password)), err
	}})
	return []string{
		"--embedded-server",
		"--embedded-server-data-dir=" + w.dataDir(),
		"--embedded-server-listen-address=" + address,
		"--embedded-server-url=" + w.garmURL,
		"--embedded-server-providers-file=" + providers,
	}, err
}

func (w *world) dataDir() string { return filepath.Join(w.dir, "data") }

// passwordFile holds the password of GARM's administrator.
func (w *world) passwordFile() string {
	if w.options.Embedded {
		return filepath.Join(w.dataDir(), "admin-password")
	}
	return filepath.Join(w.dir, "garm-password")
}
