package install_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/garm-operator/garm-operator/internal/dev/freeport"
	"github.com/garm-operator/garm-operator/internal/dev/manifests"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

var (
	secretCommand = regexp.MustCompile(`(?m)^kubectl create secret generic (\S+) --from-literal=(\S+)=(\S+)$`)
	yamlBlock     = regexp.MustCompile("(?s)```yaml\n(.*?)```")
)

// TestQuickstart does what docs/quickstart.md says, word for word, but that GitHub is the simulated one: installs the
// manifests of the embedded server, which need no value, makes the Secrets, applies the resources, and waits until all
// are Ready. Then it deletes them.
func TestQuickstart(t *testing.T) {
	page, err := os.ReadFile("../../docs/quickstart.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Parallel()
	i := setup(t, stack.Options{})
	i.install(kustomize(t, manifests.Overlay{Resources: []string{"embedded"}}), nil)
	config := i.config()
	if want := "http://garm-operator-garm-server.garm-operator-system.svc:9997"; config.EmbeddedServer.URL != want {
		t.Errorf("the server's URL is %q, not %q", config.EmbeddedServer.URL, want)
	}
	if want := "/var/lib/garm-operator"; config.EmbeddedServer.DataDir != want {
		t.Errorf("the server's data is in %q, and the volume at %q", config.EmbeddedServer.DataDir, want)
	}
	port, err := freeport.Port(i.ctx)
	if err != nil {
		t.Fatal(err)
	}
	config.EmbeddedServer.DataDir, config.EmbeddedServer.ListenAddress = t.TempDir()+"/data", fmt.Sprintf("127.0.0.1:%d", port)
	config.EmbeddedServer.ProvidersFile = providersFile(t)
	i.run(config)

	secrets := secretCommand.FindAllSubmatch(page, -1)
	if len(secrets) != 2 {
		t.Fatalf("found %d commands that make a Secret, not 2", len(secrets))
	}
	values := map[string]string{"token": "ghp_stack", "secret": "correct-horse-battery"}
	for _, s := range secrets {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: string(s[1])}}
		secret.StringData = map[string]string{string(s[2]): values[string(s[2])]}
		if err := i.Apply(i.ctx, secret); err != nil {
			t.Fatal(err)
		}
	}
	blocks := yamlBlock.FindAllSubmatch(page, -1)
	if len(blocks) != 1 {
		t.Fatalf("found %d manifests, not 1", len(blocks))
	}
	github := strings.NewReplacer("https://github.com", i.GitHub.URL(), "https://api.github.com", i.GitHub.URL()+"/api/v3", "https://uploads.github.com", i.GitHub.URL()+"/api/uploads")
	resources, err := manifests.Decode([]byte(github.Replace(string(blocks[0][1]))))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range resources {
		o.SetNamespace(namespace)
		i.eventually(func() error { return i.tryApply(o) }) // a Pool is refused until the webhooks are served
	}
	objects := i.converged(resources)
	i.eventually(func() error { return i.runnersShown(namespace, 1) })
	i.remove(objects)
}

// providersFile names one provider, as the page on the embedded server tells.
func providersFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "providers.toml")
	provider, err := stack.WriteProvider(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	content := fmt.Sprintf("[[provider]]\nname = \"local\"\nprovider_type = \"external\"\n[provider.external]\nprovider_executable = %q\n", provider)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
