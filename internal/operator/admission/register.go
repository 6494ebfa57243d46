package admission

import (
	"context"
	"fmt"
	"net/http"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	webhookadmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// Server is where webhooks are registered.
type Server interface {
	Register(path string, hook http.Handler)
}

// Rules are the rules at work.
type Rules struct{ pools *pools }

// Register serves the rules at their paths: those of this version, and those that the manifests of the known operator's v0.4.1
// name. Pools are looked up in the cache by the indices of package poolspec, and at the API server where the cache may be behind.
// No namespaces means all; in others than these nothing but the resource itself is looked at.
func Register(server Server, cached, live client.Reader, namespaces []string) *Rules {
	look := lookup{cached: cached, live: live, namespaces: namespaces}
	r := &Rules{pools: &pools{lookup: look, admitted: newAdmitted()}}
	for kind, handler := range map[string]webhookadmission.Handler{
		"pool":       r.pools,
		"image":      &images{lookup: look},
		"repository": webhookadmission.HandlerFunc(allow),
	} {
		for _, version := range []string{"v1beta1", "v1alpha1"} {
			server.Register("/validate-garm-operator-mercedes-benz-com-"+version+"-"+kind, &webhookadmission.Webhook{Handler: handler})
		}
	}
	return r
}

// Watch learns from the cache when a Pool that was let through is in sight. Without it, Pools that are deleted soon after they were
// created hold up their like for some seconds.
func (r *Rules) Watch(ctx context.Context, informers cache.Informers) error {
	informer, err := informers.GetInformer(ctx, &v1beta1.Pool{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch Pools for admission: %w", err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if pool, ok := obj.(*v1beta1.Pool); ok {
			r.pools.seen(pool)
		}
	}})
	if err != nil {
		return fmt.Errorf("watch Pools for admission: %w", err)
	}
	return nil
}
