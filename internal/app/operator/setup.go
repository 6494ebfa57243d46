package operator

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/operator/inventory"
	"github.com/garm-operator/garm-operator/internal/operator/kinds/credential"
	"github.com/garm-operator/garm-operator/internal/operator/kinds/endpoint"
	"github.com/garm-operator/garm-operator/internal/operator/kinds/enterprise"
	"github.com/garm-operator/garm-operator/internal/operator/kinds/garmserverconfig"
	"github.com/garm-operator/garm-operator/internal/operator/kinds/organization"
	"github.com/garm-operator/garm-operator/internal/operator/kinds/pool"
	"github.com/garm-operator/garm-operator/internal/operator/kinds/repository"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// setup adds all controllers. They are told whether admission is in force.
func setup(ctx context.Context, mgr ctrl.Manager, session *remote.Session, cfg operatorconfig.Operator, admission bool) error {
	for _, c := range []struct {
		name  string
		setup func(context.Context, ctrl.Manager, *remote.Session) error
	}{
		{"GarmServerConfig", garmserverconfig.Setup},
		{"GitHubEndpoint", endpoint.Setup},
		{"GitHubCredential", credential.Setup},
		{"Enterprise", enterprise.New(cfg.EnterpriseConcurrency).Setup},
		{"Organization", organization.New(cfg.OrganizationConcurrency).Setup},
		{"Repository", repository.New(cfg.RepositoryConcurrency).Setup},
		{"Pool", func(ctx context.Context, mgr ctrl.Manager, s *remote.Session) error {
			return pool.Setup(ctx, mgr, s, pool.Options{
				Concurrent: cfg.PoolConcurrency, Namespaces: cfg.Namespaces(), MinIdleAge: cfg.MinIdleRunnersAge, Admission: admission,
			})
		}},
		{"Runner", func(ctx context.Context, mgr ctrl.Manager, s *remote.Session) error {
			return inventory.SetupWithManager(ctx, mgr, inventory.Options{Session: s, Mirror: cfg.RunnerReconciliation, Concurrency: cfg.RunnerConcurrency})
		}},
	} {
		if err := c.setup(ctx, mgr, session); err != nil {
			return fmt.Errorf("set up the controller of %s: %w", c.name, err)
		}
	}
	return nil
}
