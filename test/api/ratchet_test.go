package api_test

import (
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// old is an object that was stored when its definition had no rules beyond types and required fields.
type old struct {
	kind, name string
	edits      []edit
	// other is an edit that has nothing to do with what is wrong.
	other edit
	// wrong is a new wrong value; refused is what its error says.
	wrong   edit
	refused string
}

var olds = []old{
	{
		v1beta1.KindPool, "loose-fields",
		[]edit{
			set("spec.githubScopeRef.kind", "Team"), text("spec.providerName", ""), set("spec.maxRunners", "0"), text("spec.flavor", ""),
			set("spec.osType", "macos"), set("spec.osArch", "i386"), set("spec.tags", "[]"), set("spec.runnerBootstrapTimeout", "0"),
			text("spec.imageName", ""), set("spec.extraSpecs", "'7'"),
		},
		set("spec.enabled", "false"), set("spec.extraSpecs", "'8'"), "bare number",
	},
	{
		v1beta1.KindPool, "no-spec",
		[]edit{without("spec")},
		set("metadata.labels", "{team: a}"), set("spec", "{}"), "spec.tags: Required",
	},
	{
		v1beta1.KindImage, "op-36-no-tag",
		[]edit{set("spec", "{}")},
		set("metadata.labels", "{team: a}"), text("spec.tag", ""), "spec.tag",
	},
	{
		v1beta1.KindImage, "op-36-no-spec",
		[]edit{without("spec")},
		set("metadata.labels", "{team: a}"), text("spec.tag", ""), "spec.tag",
	},
	{
		v1beta1.KindImage, "op-36-empty-tag",
		[]edit{text("spec.tag", "")},
		set("metadata.labels", "{team: a}"), nil, "",
	},
	{
		v1beta1.KindOrganization, "loose-entity",
		[]edit{
			text("spec.poolBalancerType", "stack"), set("spec.webhookSecretRef", `{name: "", key: ""}`),
		},
		set("spec.credentialsRef.name", "other"), text("spec.poolBalancerType", "random"), "spec.poolBalancerType",
	},
	{
		v1beta1.KindRepository, "loose-owner",
		[]edit{text("spec.owner", "")},
		set("spec.credentialsRef.name", "other"), set("spec.poolBalancerType", "random"), "spec.poolBalancerType",
	},
	{
		v1beta1.KindGitHubCredential, "app-without-fields",
		[]edit{set("spec.authType", "app"), without("spec.secretRef")},
		set("spec.description", "changed"), set("spec.appId", "-1"), "spec.appId",
	},
	{
		v1beta1.KindGitHubCredential, "pat-with-fields",
		[]edit{set("spec.appId", "7"), set("spec.installationId", "8"), set("spec.secretRef", `{name: "", key: ""}`)},
		set("spec.description", "changed"), set("spec.authType", "oauth"), "spec.authType",
	},
	{
		v1beta1.KindGitHubEndpoint, "bare-word",
		[]edit{set("spec.baseUrl", "github")},
		set("spec.description", "changed"), set("spec.baseUrl", "gitlab"), "spec.baseUrl",
	},
	{
		v1beta1.KindGarmServerConfig, "login",
		[]edit{text("spec.webhookUrl", "https://user:hunter2@garm.example.com/webhooks")},
		text("spec.callbackUrl", "https://garm.example.com/api/v1/callbacks"), text("spec.webhookUrl", "https://user:hunter2@other.example.com"), "must not hold",
	},
	{
		v1beta1.KindGarmServerConfig, "bare-host",
		[]edit{set("spec.webhookUrl", "garm:9997")},
		set("spec.metadataUrl", "https://garm.example.com"), set("spec.webhookUrl", "garm:9998"), "spec.webhookUrl",
	},
}

// TestOldObjects shows that an object which broke a rule before the rule came can still be edited otherwise, lose its
// finalizer and be deleted, and that it cannot be made wrong anew.
func TestOldObjects(t *testing.T) {
	c := connect(t)
	const finalizer = v1beta1.Group + "/test"
	stored := make([]*unstructured.Unstructured, len(olds))
	c.withLooseDefinitions(t, func() {
		for i, o := range olds {
			object := c.manifest(t, o.kind, o.name, o.edits...)
			object.SetFinalizers([]string{finalizer})
			if err := c.Create(t.Context(), object); err != nil {
				t.Fatalf("store %s %s: %v", o.kind, o.name, err)
			}
			stored[i] = object
		}
	})
	for i, o := range olds {
		t.Run(o.kind+" "+o.name, func(t *testing.T) {
			anew := c.manifest(t, o.kind, "anew", o.edits...)
			if err := c.Create(t.Context(), anew, client.DryRunAll); err == nil {
				t.Error("the same object is accepted anew, so it shows nothing about old ones")
			}
			if o.wrong != nil {
				object := c.stored(t, stored[i])
				o.wrong(t, object.Object)
				expect(t, c.Update(t.Context(), object), o.refused)
			}
			object := c.stored(t, stored[i])
			o.other(t, object.Object)
			expect(t, c.Update(t.Context(), object), "")

			if err := c.Delete(t.Context(), c.stored(t, stored[i])); err != nil {
				t.Fatalf("delete: %v", err)
			}
			object = c.stored(t, stored[i])
			object.SetFinalizers(nil)
			expect(t, c.Update(t.Context(), object), "")
			err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object)
			if client.IgnoreNotFound(err) != nil || err == nil {
				t.Errorf("still there without its finalizer: %v", err)
			}
		})
	}
}

// withLooseDefinitions takes the rules out of all definitions, calls f and puts them back.
func (c *cluster) withLooseDefinitions(t *testing.T, f func()) {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinitionList"})
	if err := c.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	c.replaceSpecs(t, list.Items, loosen)
	c.awaitRules(t, false)
	f()
	c.replaceSpecs(t, list.Items, func(any) {})
	c.awaitRules(t, true)
}

func (c *cluster) replaceSpecs(t *testing.T, definitions []unstructured.Unstructured, edit func(any)) {
	t.Helper()
	for _, definition := range definitions {
		eventually(t, func() error {
			current := c.stored(t, &definition)
			current.Object["spec"] = definition.DeepCopy().Object["spec"]
			edit(current.Object["spec"])
			return c.Update(t.Context(), current)
		})
	}
}

// awaitRules waits until the rules of every kind are in force, or none is.
func (c *cluster) awaitRules(t *testing.T, inForce bool) {
	t.Helper()
	for _, o := range olds {
		eventually(t, func() error {
			err := c.Create(t.Context(), c.manifest(t, o.kind, "probe", o.edits...), client.DryRunAll)
			switch {
			case inForce && err == nil:
				return fmt.Errorf("%s: the rules are not in force yet", o.kind)
			case !inForce && err != nil:
				return errors.Join(fmt.Errorf("%s: the rules are still in force", o.kind), err)
			}
			return nil
		})
	}
}

// loosen removes every rule about values, at any depth; types and required fields stay.
func loosen(node any) {
	switch node := node.(type) {
	case map[string]any:
		for _, rule := range []string{"x-kubernetes-validations", "enum", "pattern", "minimum", "minLength", "maxLength", "minItems"} {
			delete(node, rule)
		}
		for _, child := range node {
			loosen(child)
		}
	case []any:
		for _, child := range node {
			loosen(child)
		}
	}
}
