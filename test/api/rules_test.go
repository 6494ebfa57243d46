package api_test

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/config/crd"
)

// rule is one rule about values in a definition.
type rule struct {
	kind  schema.GroupVersionKind
	field string
	// says is what the refusal of a value that breaks the rule has in it.
	says string
}

// refusals collects what the API server has refused where a test wanted it to.
var refusals struct {
	sync.Mutex
	seen map[schema.GroupVersionKind][]metav1.StatusCause
}

// element is one place of a list within the path of a field.
var element = regexp.MustCompile(`\[\d+\]`)

func refused(object client.Object, err error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return
	}
	refusals.Lock()
	defer refusals.Unlock()
	if refusals.seen == nil {
		refusals.seen = map[schema.GroupVersionKind][]metav1.StatusCause{}
	}
	kind := object.GetObjectKind().GroupVersionKind()
	for _, cause := range status.Status().Details.Causes {
		cause.Field = element.ReplaceAllString(cause.Field, "[]")
		refusals.seen[kind] = append(refusals.seen[kind], cause)
	}
}

// untried returns the rules that no test has seen the API server refuse a value by.
func untried() ([]rule, error) {
	definitions, err := crd.Definitions()
	if err != nil {
		return nil, err
	}
	refusals.Lock()
	defer refusals.Unlock()
	var left []rule
	for _, definition := range definitions {
		for _, version := range definition.Spec.Versions {
			kind := schema.GroupVersionKind{Group: definition.Spec.Group, Version: version.Name, Kind: definition.Spec.Names.Kind}
			for _, r := range rulesOf(kind, *version.Schema.OpenAPIV3Schema, "") {
				if !slices.ContainsFunc(refusals.seen[kind], r.brokenIn) {
					left = append(left, r)
				}
			}
		}
	}
	return left, nil
}

func (r rule) brokenIn(cause metav1.StatusCause) bool {
	return (r.field == cause.Field || r.field == "") && strings.Contains(cause.Message, r.says)
}

func (r rule) String() string {
	return fmt.Sprintf("%s %s %s: %s", r.kind.Version, r.kind.Kind, r.field, r.says)
}

// rulesOf returns the rules of a schema and of what it holds, as the API server words them.
func rulesOf(kind schema.GroupVersionKind, s apiextensionsv1.JSONSchemaProps, path string) []rule {
	var rules []rule
	add := func(holds bool, field, says string) {
		if holds {
			rules = append(rules, rule{kind, field, says})
		}
	}
	add(s.Enum != nil, path, "supported values")
	add(s.Pattern != "", path, "should match")
	add(s.Minimum != nil, path, "greater than or equal to")
	add(s.Maximum != nil, path, "less than or equal to")
	add(s.MinLength != nil, path, "chars long")
	add(s.MaxLength != nil, path, "may not be more than")
	add(s.MinItems != nil, path, "should have at least")
	add(s.MaxItems != nil, path, "must have at most")
	for _, r := range s.XValidations {
		add(true, strings.TrimPrefix(path+r.FieldPath, "."), r.Message)
	}
	for _, name := range s.Required {
		// What has a default is never missing.
		add(s.Properties[name].Default == nil, within(path, name), "Required value")
	}
	for name, property := range s.Properties {
		rules = append(rules, rulesOf(kind, property, within(path, name))...)
	}
	if s.Items != nil && s.Items.Schema != nil {
		rules = append(rules, rulesOf(kind, *s.Items.Schema, path+"[]")...)
	}
	return rules
}

func within(path, name string) string {
	return strings.TrimPrefix(path+"."+name, ".")
}

// whole reports whether all tests of the package have been asked for.
func whole() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return true
}
