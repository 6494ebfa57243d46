package api_test

import (
	"math"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// valid holds one smallest valid spec of each kind.
var valid = map[string]string{
	v1beta1.KindEnterprise: `
credentialsRef: {kind: GitHubCredential, name: github}
webhookSecretRef: {name: webhook, key: secret}`,
	v1beta1.KindOrganization: `
credentialsRef: {kind: GitHubCredential, name: github}
webhookSecretRef: {name: webhook, key: secret}`,
	v1beta1.KindRepository: `
owner: octo-org
credentialsRef: {kind: GitHubCredential, name: github}
webhookSecretRef: {name: webhook, key: secret}`,
	v1beta1.KindPool: `
githubScopeRef: {kind: Organization, name: octo-org}
providerName: local
maxRunners: 4
flavor: small
osType: linux
osArch: amd64
tags: [linux]
enabled: true
runnerBootstrapTimeout: 20
imageName: ubuntu`,
	v1beta1.KindImage:            `tag: ubuntu:24.04`,
	v1beta1.KindRunner:           `{}`,
	v1beta1.KindGarmServerConfig: `{}`,
	v1beta1.KindGitHubEndpoint:   `{}`,
	v1beta1.KindGitHubCredential: `
description: build bot
endpointRef: {kind: GitHubEndpoint, name: github.com}
authType: pat
secretRef: {name: github, key: token}`,
}

// edit changes an object before it is sent.
type edit func(t *testing.T, object map[string]any)

// set puts a value, written in YAML, at a dotted path.
func set(path, value string) edit {
	return func(t *testing.T, object map[string]any) {
		t.Helper()
		var decoded any
		if err := yaml.Unmarshal([]byte(value), &decoded); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if number, ok := decoded.(float64); ok && number == math.Trunc(number) && math.Abs(number) < 1<<53 {
			decoded = int64(number)
		}
		put(t, object, decoded, path)
	}
}

// text puts a string at a dotted path.
func text(path, value string) edit {
	return func(t *testing.T, object map[string]any) {
		t.Helper()
		put(t, object, value, path)
	}
}

func put(t *testing.T, object map[string]any, value any, path string) {
	t.Helper()
	if err := unstructured.SetNestedField(object, value, strings.Split(path, ".")...); err != nil {
		t.Fatal(err)
	}
}

// without removes what is at a dotted path.
func without(path string) edit {
	return func(_ *testing.T, object map[string]any) {
		unstructured.RemoveNestedField(object, strings.Split(path, ".")...)
	}
}

// manifest returns the valid object of a kind with the edits made.
func (c *cluster) manifest(t *testing.T, kind, name string, edits ...edit) *unstructured.Unstructured {
	t.Helper()
	var spec map[string]any
	if err := yaml.Unmarshal([]byte(valid[kind]), &spec); err != nil {
		t.Fatalf("the valid %s: %v", kind, err)
	}
	integers(spec)
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(kind))
	object.SetName(name)
	object.SetNamespace(c.namespace)
	for _, apply := range edits {
		apply(t, object.Object)
	}
	return object
}

// integers turns the numbers of a decoded manifest into what unstructured objects hold.
func integers(fields map[string]any) {
	for key, value := range fields {
		if number, ok := value.(float64); ok {
			fields[key] = int64(number)
		}
	}
}

// judge compares the outcome of a request for an object, as expect does, and keeps what was refused.
func judge(t *testing.T, object client.Object, err error, want string) {
	t.Helper()
	if want != "" {
		refused(object, err)
	}
	expect(t, err, want)
}

// expect compares the outcome of a request: want empty means accepted, else each part (split at " & ") has to stand in the
// error.
func expect(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("refused: %v", err)
		}
		return
	}
	if err == nil {
		t.Errorf("accepted, want an error with %q", want)
		return
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error repeats a password: %v", err)
	}
	for part := range strings.SplitSeq(want, " & ") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
}
