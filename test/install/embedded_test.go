package install_test

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/dev/manifests"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/dev/webhookinstall"
)

// The manifests of the embedded server need no value: the operator runs its own server, under the URL of the installed
// Service, and an organization becomes Ready with nothing said about GARM.
func TestEmbeddedServerOfTheManifests(t *testing.T) {
	i := setup(t, stack.Options{})
	i.install(kustomize(t, manifests.Overlay{Resources: []string{"embedded"}}), nil)
	config := i.config()
	if want := "http://garm-operator-garm-server.garm-operator-system.svc:9997"; config.EmbeddedServer.URL != want {
		t.Errorf("the server's URL is %q, not %q", config.EmbeddedServer.URL, want)
	}
	if want := "/var/lib/garm-operator"; config.EmbeddedServer.DataDir != want {
		t.Errorf("the server's data is in %q, and the volume at %q", config.EmbeddedServer.DataDir, want)
	}
	port, err := webhookinstall.FreePort(i.ctx)
	if err != nil {
		t.Fatal(err)
	}
	config.EmbeddedServer.DataDir, config.EmbeddedServer.ListenAddress = t.TempDir()+"/data", fmt.Sprintf("127.0.0.1:%d", port)
	i.run(config)
	token, hook := i.Secret(stack.TokenSecret, "ghp_stack"), i.Secret(stack.WebhookSecret, "correct-horse-battery")
	endpoint := i.Endpoint("github-embedded")
	credential := i.Credential("bot-embedded", endpoint.Name, stack.TokenSecret)
	org := i.Organization("org-embedded")
	org.Spec.CredentialsRef.Name = credential.Name
	objects := []client.Object{token, hook, endpoint, credential, org}
	for _, o := range objects {
		i.eventually(func() error { return i.Apply(i.ctx, o) })
	}
	i.eventually(func() error { return i.ready(org) })
	found := &v1beta1.Organization{}
	if err := i.Kube.Get(i.ctx, client.ObjectKeyFromObject(org), found); err != nil || found.Status.ID == "" {
		t.Errorf("the organization has the id %q, %v", found.Status.ID, err)
	}
	i.remove(objects)
}
