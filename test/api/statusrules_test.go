package api_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1alpha1"
	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// observed is a status that the API server takes, with one of everything that has rules.
var observed = map[string]string{
	v1beta1.KindEnterprise: `{id: e}`, v1beta1.KindOrganization: `{id: o}`, v1beta1.KindRepository: `{id: r}`,
	v1beta1.KindPool:             `{id: p, longRunningIdleRunners: 1, selector: ""}`,
	v1beta1.KindRunner:           `{agentId: 1, githubRunnerGroup: "", addresses: [{address: 192.0.2.7, type: private}]}`,
	v1beta1.KindGarmServerConfig: `{version: v0.1.5}`,
	v1beta1.KindGitHubEndpoint:   `{}`,
	v1beta1.KindGitHubCredential: `{id: 1, apiBaseUrl: "", uploadBaseUrl: "", baseUrl: ""}`,
}

// A status that misses what its readers count on, or whose conditions are none, is refused, in either version.
func TestStatusRules(t *testing.T) {
	c := connect(t)
	for kind, status := range observed {
		object := c.manifest(t, kind, "observed")
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		versions := []string{v1beta1.GroupVersion.Version}
		if c.Scheme().Recognizes(v1alpha1.GroupVersion.WithKind(kind)) {
			versions = append(versions, v1alpha1.GroupVersion.Version)
		}
		for _, version := range versions {
			hasConditions := version == v1beta1.GroupVersion.Version || kind != v1beta1.KindRunner
			for name, tc := range statusCases(t, kind, hasConditions) {
				t.Run(kind+" "+version+" "+name, func(t *testing.T) {
					edited := c.stored(t, object)
					edited.SetAPIVersion(v1beta1.Group + "/" + version)
					set("status", status)(t, edited.Object)
					numbers(edited.Object["status"])
					if hasConditions {
						put(t, edited.Object, []any{map[string]any{
							"type": "Ready", "status": "True", "reason": "Done", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
						}}, "status.conditions")
					}
					tc.edit(t, edited.Object)
					judge(t, edited, c.Status().Update(t.Context(), edited, &client.SubResourceUpdateOptions{
						UpdateOptions: client.UpdateOptions{DryRun: []string{"All"}},
					}), tc.want)
				})
			}
		}
	}
}

type statusCase struct {
	edit edit
	want string
}

func statusCases(t *testing.T, kind string, conditions bool) map[string]statusCase {
	t.Helper()
	cases := map[string]statusCase{"as it is": {func(*testing.T, map[string]any) {}, ""}}
	required := map[string][]string{
		v1beta1.KindEnterprise: {"id"}, v1beta1.KindOrganization: {"id"}, v1beta1.KindRepository: {"id"},
		v1beta1.KindPool: {"id", "longRunningIdleRunners", "selector"}, v1beta1.KindRunner: {"agentId", "githubRunnerGroup"},
		v1beta1.KindGitHubCredential: {"id", "apiBaseUrl", "uploadBaseUrl", "baseUrl"},
	}
	for _, field := range required[kind] {
		cases["without "+field] = statusCase{without("status." + field), "status." + field + ": Required"}
	}
	if slices.Equal(required[kind], []string{"id"}) {
		cases["a long name"] = statusCase{text("status.name", strings.Repeat("n", 257)), "status.name & may not be more than"}
	}
	if kind == v1beta1.KindRunner {
		for _, field := range []string{"address", "type"} {
			cases["address without "+field] = statusCase{first("addresses", field, nil), "status.addresses[0]." + field + ": Required"}
		}
	}
	if !conditions {
		return cases
	}
	for _, field := range []string{"type", "status", "reason", "message", "lastTransitionTime"} {
		cases["condition without "+field] = statusCase{first("conditions", field, nil), "status.conditions[0]." + field + ": Required"}
	}
	for name, tc := range map[string]struct {
		field string
		value any
		want  string
	}{
		"status maybe":            {"status", "Maybe", "supported values"},
		"reason of two words":     {"reason", "not done", "should match"},
		"no reason":               {"reason", "", "chars long"},
		"a long reason":           {"reason", strings.Repeat("R", 1025), "may not be more than"},
		"a long message":          {"message", strings.Repeat("m", 32769), "may not be more than"},
		"type of two words":       {"type", "Not Ready", "should match"},
		"a long type":             {"type", strings.Repeat("t", 317), "may not be more than"},
		"a generation below zero": {"observedGeneration", int64(-1), "greater than or equal to"},
		"a time that is none":     {"lastTransitionTime", "yesterday", "date-time"},
	} {
		cases["condition with "+name] = statusCase{first("conditions", tc.field, tc.value), "status.conditions[0]." + tc.field + " & " + tc.want}
	}
	return cases
}

// first sets a field of the first element of a list of the status; nil takes it away.
func first(list, field string, value any) edit {
	return func(t *testing.T, object map[string]any) {
		t.Helper()
		elements, _, err := unstructured.NestedSlice(object, "status", list)
		if err != nil || len(elements) == 0 {
			t.Fatalf("no %s: %v", list, err)
		}
		element := elements[0].(map[string]any)
		if value == nil {
			delete(element, field)
		} else {
			element[field] = value
		}
		put(t, object, elements, "status."+list)
	}
}

// numbers turns the numbers of decoded YAML into what unstructured objects hold.
func numbers(fields any) {
	if fields, ok := fields.(map[string]any); ok {
		integers(fields)
	}
}
