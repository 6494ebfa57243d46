package upgrade_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/config/crd"
	"github.com/garm-operator/garm-operator/internal/dev/webhookinstall"
)

// installOld installs the definitions of the first releases: v1alpha1 alone, without rules beyond types.
func (c *cluster) installOld() {
	c.t.Helper()
	for _, definition := range c.definitions() {
		if len(definition.Spec.Versions) < 2 {
			continue
		}
		version := definition.Spec.Versions[0]
		version.Storage, version.Deprecated, version.DeprecationWarning = true, false, nil
		version.Schema = withoutRules(c, version.Schema)
		definition.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{version}
		c.must(c.kube.Create(c.ctx, definition))
	}
	c.eventually(c.established)
}

// installNew installs the definitions of this release in place, and the calls to its webhooks.
func (c *cluster) installNew() {
	c.t.Helper()
	for _, definition := range c.definitions() {
		there := &apiextensionsv1.CustomResourceDefinition{}
		err := c.kube.Get(c.ctx, client.ObjectKeyFromObject(definition), there)
		if client.IgnoreNotFound(err) != nil {
			c.t.Fatal(err)
		}
		if err != nil {
			c.must(c.kube.Create(c.ctx, definition))
			continue
		}
		c.change(definition.Name, func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Versions = definition.Spec.Versions })
	}
	c.must(webhookinstall.Install(c.ctx, c.plane.Config(), c.url()))
	c.eventually(c.established)
}

func (c *cluster) url() string { return fmt.Sprintf("https://localhost:%d", c.port) }

func (c *cluster) definitions() []*apiextensionsv1.CustomResourceDefinition {
	c.t.Helper()
	definitions, err := crd.Definitions()
	c.must(err)
	return definitions
}

// change edits the definition on the server, however often others write it meanwhile.
func (c *cluster) change(name string, edit func(*apiextensionsv1.CustomResourceDefinition)) {
	c.t.Helper()
	c.eventually(func() error {
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := c.kube.Get(c.ctx, client.ObjectKey{Name: name}, definition); err != nil {
			return err
		}
		edit(definition)
		return c.kube.Update(c.ctx, definition)
	})
}

func (c *cluster) established() error {
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := c.kube.List(c.ctx, list); err != nil {
		return err
	}
	for _, definition := range list.Items {
		if !slices.ContainsFunc(definition.Status.Conditions, func(condition apiextensionsv1.CustomResourceDefinitionCondition) bool {
			return condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue
		}) {
			return fmt.Errorf("%s is not established", definition.Name)
		}
	}
	return nil
}

// storedVersions returns what the definitions say is stored, by plural.
func (c *cluster) storedVersions() map[string][]string {
	c.t.Helper()
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	c.must(c.kube.List(c.ctx, list))
	stored := map[string][]string{}
	for _, definition := range list.Items {
		stored[definition.Spec.Names.Plural] = definition.Status.StoredVersions
	}
	return stored
}

// notes returns the annotations of a definition that say of which namespaces nothing old is stored.
func (c *cluster) notes(name string) []string {
	c.t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{}
	c.must(c.kube.Get(c.ctx, client.ObjectKey{Name: name}, definition))
	return slices.DeleteFunc(slices.Collect(maps.Keys(definition.Annotations)), func(key string) bool {
		return !strings.HasPrefix(key, "stored-version.")
	})
}

func withoutRules(c *cluster, schema *apiextensionsv1.CustomResourceValidation) *apiextensionsv1.CustomResourceValidation {
	c.t.Helper()
	content, err := json.Marshal(schema)
	c.must(err)
	var fields map[string]any
	c.must(json.Unmarshal(content, &fields))
	strip(fields)
	content, err = json.Marshal(fields)
	c.must(err)
	loose := &apiextensionsv1.CustomResourceValidation{}
	c.must(json.Unmarshal(content, loose))
	return loose
}

func strip(fields map[string]any) {
	for _, rule := range []string{"x-kubernetes-validations", "minLength", "maxLength", "x-kubernetes-preserve-unknown-fields"} {
		delete(fields, rule)
	}
	for _, value := range fields {
		if inner, ok := value.(map[string]any); ok {
			strip(inner)
		}
	}
}
