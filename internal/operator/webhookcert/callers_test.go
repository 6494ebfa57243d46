package webhookcert

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
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
		// elsewhere are the URLs that lead to others.
		elsewhere []string
	}{
		"our service":       {configuration(nil, service("ours", "hooks"), service("ours", "hooks")), 2, []string{"hooks.ours.svc"}, nil},
		"another's service": {configuration(nil, service("theirs", "hooks"), service("ours", "b")), 1, []string{"b.ours.svc"}, nil},
		"urls":              {configuration(nil, url("https://localhost:9443/x"), url("https://127.0.0.1:9443/y")), 2, []string{"localhost"}, nil},
		"in capitals":       {configuration(nil, url("https://LOCALHOST:9443/x")), 1, []string{"localhost"}, nil},
		"the usual port":    {configuration(nil, url("https://hooks.example.com/x")), 1, []string{"hooks.example.com"}, nil},
		"another's URLs": {
			configuration(nil, url("https://localhost:9444/x"), url("https://hooks.example.com:9443/x"), url("https://localhost:9443/x"), url("::")),
			1,
			[]string{"localhost"},
			[]string{"https://localhost:9444/x", "https://hooks.example.com:9443/x", "::"},
		},
		"cert-manager does it": {configuration(map[string]string{"cert-manager.io/inject-ca-from": "a/b"}, service("ours", "hooks")), 0, nobody, nil},
		"conversion": {definition(&apiextensionsv1.WebhookClientConfig{
			Service: &apiextensionsv1.ServiceReference{Namespace: "ours", Name: "hooks"},
		}), 1, []string{"hooks.ours.svc"}, nil},
		"conversion by another's URL": {definition(&apiextensionsv1.WebhookClientConfig{URL: new("https://theirs:9443/convert")}), 0, nobody, []string{"https://theirs:9443/convert"}},
		"no conversion by webhook":    {&apiextensionsv1.CustomResourceDefinition{}, 0, nobody, nil},
		"no call yet":                 {definition(nil), 0, nobody, nil},
	} {
		t.Run(name, func(t *testing.T) {
			found, elsewhere := calls(c.object, place{namespace: "ours", addresses: []string{"localhost:9443", "127.0.0.1:9443", "hooks.example.com:443"}})
			if d := cmp.Diff(c.elsewhere, elsewhere); d != "" {
				t.Error(d)
			}
			if len(found) != c.calls {
				t.Errorf("%d calls", len(found))
			}
			if d := cmp.Diff(c.hosts, hosts(found, "ours", nil)); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(append([]string{"another.replicas.svc"}, slices.DeleteFunc(slices.Clone(c.hosts), func(h string) bool { return h == nobody[0] })...), hosts(found, "ours", []string{"another.replicas.svc"})); d != "" {
				t.Error(d)
			}
			if changed := trust(found, []byte("x")); changed != (c.calls > 0) || trust(found, []byte("x")) {
				t.Errorf("changed is %t, and again", changed)
			}
		})
	}
}

// What is left to others is told once each time that it comes to be so.
func TestTellLeft(t *testing.T) {
	var lines []string
	k := &Keeper{left: map[string]string{}, options: Options{Log: funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})}}
	mine := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "pools"}}
	theirs := mine.DeepCopy()
	theirs.Annotations = map[string]string{"cert-manager.io/inject-ca-from": "a/b"}
	url := []string{"https://theirs:9443/convert"}
	for _, step := range []struct {
		object    client.Object
		elsewhere []string
		lines     int
	}{{mine, nil, 0}, {theirs, nil, 1}, {theirs, nil, 1}, {mine, nil, 1}, {theirs, nil, 2}, {mine, url, 3}, {mine, url, 3}, {mine, nil, 3}} {
		k.tellLeft(step.object, step.elsewhere)
		if len(lines) != step.lines {
			t.Fatalf("%d lines instead of %d: %q", len(lines), step.lines, lines)
		}
	}
	if !strings.Contains(lines[0], "pools") || !strings.Contains(lines[2], url[0]) {
		t.Errorf("%q do not name the object and the URL", lines)
	}
}

// What the API server writes at the same moment, or another replica, is no error: its watch brings the next pass.
func TestInjectMeetsAnother(t *testing.T) {
	other := apierrors.NewConflict(schema.GroupResource{Resource: "customresourcedefinitions"}, "pools", errors.New("it has been modified"))
	for _, test := range []struct {
		name        string
		answer, err error
	}{{"conflict", other, nil}, {"failure", io.ErrUnexpectedEOF, io.ErrUnexpectedEOF}} {
		t.Run(test.name, func(t *testing.T) {
			patches := 0
			c := interceptor.NewClient(nil, interceptor.Funcs{
				Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
					patches++
					return test.answer
				},
			})
			object := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "pools"}}
			one := caller{watched: &watched{}, object: object, base: object.DeepCopy(), calls: []call{{trusted: &[]byte{}}}}
			trusted, err := (&Keeper{client: c}).inject(t.Context(), []caller{one}, []byte("authority"))
			if trusted || !errors.Is(err, test.err) || patches != 1 {
				t.Errorf("trusted is %t after %d patches: %v", trusted, patches, err)
			}
		})
	}
}
