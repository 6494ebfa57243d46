package api_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// TestRequiredStatusFields shows that a status in which nothing is known yet still holds what the schema requires, so that
// every program that knows the schema can read it.
func TestRequiredStatusFields(t *testing.T) {
	entity := map[string]any{"id": ""}
	for _, tc := range []struct {
		status any
		want   map[string]any
	}{
		{v1beta1.EntityStatus{}, entity},
		{v1beta1.PoolStatus{}, map[string]any{"id": "", "longRunningIdleRunners": 0.0, "selector": ""}},
		{v1beta1.GitHubCredentialStatus{}, map[string]any{"id": 0.0, "apiBaseUrl": "", "uploadBaseUrl": "", "baseUrl": ""}},
		{v1beta1.RunnerStatus{}, map[string]any{"agentId": 0.0, "githubRunnerGroup": ""}},
		{v1beta1.GitHubEndpointStatus{}, map[string]any{}},
		{v1beta1.GarmServerConfigStatus{}, map[string]any{}},
	} {
		encoded, err := json.Marshal(tc.status)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(encoded, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%T: %s", tc.status, diff)
		}
	}
}

// TestStatusIsSeparate shows for each kind with a status that the object's own write leaves it alone and the status's write
// leaves the spec and the generation alone.
func TestStatusIsSeparate(t *testing.T) {
	c := connect(t)
	statuses := map[string]string{
		v1beta1.KindEnterprise: `{"id": "e"}`, v1beta1.KindOrganization: `{"id": "o"}`, v1beta1.KindRepository: `{"id": "r"}`,
		v1beta1.KindPool:             `{"id": "p", "longRunningIdleRunners": 1, "selector": ""}`,
		v1beta1.KindRunner:           `{"agentId": 1, "githubRunnerGroup": ""}`,
		v1beta1.KindGarmServerConfig: `{"version": "v0.1.5"}`,
		v1beta1.KindGitHubEndpoint:   `{"conditions": []}`,
		v1beta1.KindGitHubCredential: `{"id": 1, "apiBaseUrl": "", "uploadBaseUrl": "", "baseUrl": ""}`,
	}
	for kind, status := range statuses {
		t.Run(kind, func(t *testing.T) {
			object := c.manifest(t, kind, "separate", set("status", status))
			if err := c.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			if _, there := c.stored(t, object).Object["status"]; there {
				t.Error("the create stored a status")
			}
			set("status", status)(t, object.Object)
			set("metadata.labels", "{team: a}")(t, object.Object)
			if err := c.Status().Update(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			got := c.stored(t, object)
			if got.Object["status"] == nil || got.GetGeneration() != 1 || len(got.GetLabels()) > 0 {
				t.Errorf("the status's write stored %v, want a status, generation 1 and no labels", got.Object)
			}
		})
	}
}

// TestObjectsOfTheKnownOperator reads objects as other releases left them in the store: references with empty strings, ids,
// conditions without observedGeneration.
func TestObjectsOfTheKnownOperator(t *testing.T) {
	c := connect(t)
	object := c.manifest(t, v1beta1.KindGitHubEndpoint, "github.com", set("spec.caCertBundleSecretRef", `{name: "", key: ""}`))
	object.SetFinalizers([]string{v1beta1.FinalizerGitHubEndpoint})
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	endpoint := &v1beta1.GitHubEndpoint{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), endpoint); err != nil {
		t.Fatal(err)
	}
	if endpoint.Spec.CACertBundleSecretRef.IsSet() {
		t.Error("an empty reference counts as set")
	}
	endpoint.Status.Conditions = []metav1.Condition{
		{Type: v1beta1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1beta1.ReasonReconcileSuccess, LastTransitionTime: metav1.Now()},
	}
	if err := c.Status().Update(t.Context(), endpoint); err != nil {
		t.Fatal(err)
	}
	expect(t, c.Delete(t.Context(), endpoint), "")
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), endpoint); err != nil {
		t.Fatal(err)
	}
	endpoint.Finalizers = nil
	expect(t, c.Update(t.Context(), endpoint), "")
}

// TestTypedWritesAddNothing shows that an object which is read and written back by a program keeps the spec that its user
// wrote: no zero values come in.
func TestTypedWritesAddNothing(t *testing.T) {
	c := connect(t)
	for kind := range valid {
		t.Run(kind, func(t *testing.T) {
			object := c.manifest(t, kind, "round-trip")
			if err := c.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			before := c.stored(t, object)
			typed, err := c.Scheme().New(before.GroupVersionKind())
			if err != nil {
				t.Fatal(err)
			}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(before.Object, typed); err != nil {
				t.Fatal(err)
			}
			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before.Object["spec"], (&unstructured.Unstructured{Object: fields}).Object["spec"]); diff != "" {
				t.Error(diff)
			}
		})
	}
}
