package admission

import (
	"net/http"

	"sigs.k8s.io/controller-runtime/pkg/client"
	webhookadmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Server is where webhooks are registered.
type Server interface {
	Register(path string, hook http.Handler)
}

// Register serves the rules at their paths: those of this version, and those that the manifests of the known operator's v0.4.1
// name. Pools are looked up in the cache by the indices of package poolspec, and at the API server where the cache may be behind.
// No namespaces means all; in others than these nothing but the resource itself is looked at.
func Register(server Server, cached, live client.Reader, namespaces []string) {
	look := lookup{cached: cached, live: live, namespaces: namespaces}
	for kind, handler := range map[string]webhookadmission.Handler{
		"pool":       &pools{lookup: look, admitted: newAdmitted()},
		"image":      &images{lookup: look},
		"repository": webhookadmission.HandlerFunc(allow),
	} {
		for _, version := range []string{"v1beta1", "v1alpha1"} {
			server.Register("/validate-garm-operator-mercedes-benz-com-"+version+"-"+kind, &webhookadmission.Webhook{Handler: handler})
		}
	}
}
