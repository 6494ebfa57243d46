package webhookcert

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Only calls that lead to this operator are told what to trust, and the certificate has the names they use.
func TestCalls(t *testing.T) {
	service := func(namespace, name string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: namespace, Name: name}}
	}
	url := func(text string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{URL: &text}
	}
	configuration := func(annotations map[string]string, calls ...admissionregistrationv1.WebhookClientConfig) client.Object {
		o := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}
		for _, c := range calls {
			o.Webhooks = append(o.Webhooks, admissionregistrationv1.ValidatingWebhook{ClientConfig: c})
		}
		return o
	}
	definition := func(c *apiextensionsv1.WebhookClientConfig) client.Object {
		return &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Conversion: &apiextensionsv1.CustomResourceConversion{Webhook: &apiextensionsv1.WebhookConversion{ClientConfig: c}},
		}}
	}
	nobody := []string{"garm-operator-webhook-service.ours.svc"}
	for name, c := range map[string]struct {
		object client.Object
		calls  int
		hosts  []string
	}{
		"our service":          {configuration(nil, service("ours", "hooks"), service("ours", "hooks")), 2, []string{"hooks.ours.svc"}},
		"another's service":    {configuration(nil, service("theirs", "hooks"), service("ours", "b")), 1, []string{"b.ours.svc"}},
		"urls":                 {configuration(nil, url("https://localhost:9443/x"), url("https://127.0.0.1:1/y")), 2, []string{"localhost"}},
		"cert-manager does it": {configuration(map[string]string{"cert-manager.io/inject-ca-from": "a/b"}, service("ours", "hooks")), 0, nobody},
		"conversion": {definition(&apiextensionsv1.WebhookClientConfig{
			Service: &apiextensionsv1.ServiceReference{Namespace: "ours", Name: "hooks"},
		}), 1, []string{"hooks.ours.svc"}},
		"no conversion by webhook": {&apiextensionsv1.CustomResourceDefinition{}, 0, nobody},
		"no call yet":              {definition(nil), 0, nobody},
	} {
		t.Run(name, func(t *testing.T) {
			found := calls(c.object, "ours")
			if len(found) != c.calls {
				t.Errorf("%d calls", len(found))
			}
			if d := cmp.Diff(c.hosts, hosts(found, "ours")); d != "" {
				t.Error(d)
			}
			if changed := trust(found, []byte("x")); changed != (c.calls > 0) || trust(found, []byte("x")) {
				t.Errorf("changed is %t, and again", changed)
			}
		})
	}
}

// What an earlier installation has left to cert-manager is told once each time that it comes to be so.
func TestTellInjected(t *testing.T) {
	var lines []string
	k := &Keeper{left: map[string]bool{}, options: Options{Log: funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})}}
	mine := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "pools"}}
	theirs := mine.DeepCopy()
	theirs.Annotations = map[string]string{"cert-manager.io/inject-ca-from": "a/b"}
	for _, step := range []struct {
		object client.Object
		lines  int
	}{{mine, 0}, {theirs, 1}, {theirs, 1}, {mine, 1}, {theirs, 2}} {
		k.tellInjected(step.object)
		if len(lines) != step.lines {
			t.Fatalf("%d lines instead of %d: %q", len(lines), step.lines, lines)
		}
	}
	if !strings.Contains(lines[0], "pools") {
		t.Errorf("%q does not name the object", lines[0])
	}
}
