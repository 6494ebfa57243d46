package operator_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

const (
	userManifests    = "../../../shared/samples/v1beta1"
	samplesNamespace = "garm-operator-system"
)

// OP-10, OP-9, OP-32: the manifests that users have apply as they are, in any order, against either generation of
// server, and go in any order. The built-in endpoint is adopted without a write, and stays.
func TestOP10ManifestsOfUsers(t *testing.T) {
	t.Parallel()
	fleet, loose := manifests(t, "fleet.yaml"), manifests(t, "loose.yaml")
	for _, c := range []struct {
		name    string
		dialect garmproxy.Dialect
	}{{"first order", nil}, {"second order", nil}, {"third order", nil}, {"v0.1.5", garmproxy.V015()}} {
		t.Run(c.name, func(t *testing.T) {
			park := newPark(t)
			e := setup(t, func(o *stack.Options) {
				o.PublicGitHub, o.Namespace, o.Provider = true, samplesNamespace, park.program
			})
			e.Proxy.Speak(c.dialect)
			objects := shuffled(t, slices.Concat(fleet, loose))
			t.Cleanup(func() { abandon(e, objects) })
			e.run()
			began := time.Now()
			for _, o := range objects {
				e.apply(o.DeepCopy())
			}
			e.ready(typed(e, objects)...)
			t.Logf("Ready after %s", time.Since(began))
			counts := e.Proxy.Counts()
			if n := counts.Of("PUT", "/github/endpoints/{id}", 0); n > 0 {
				t.Errorf("%d PUTs to endpoints:\n%s", n, counts)
			}
			if n := len(e.pools()); n != 4 {
				t.Errorf("the server has %d pools, not 4", n)
			}
			for _, name := range park.machines(e, 2) {
				park.report(e, name, "idle")
			}
			left := shuffled(t, objects)
			for _, o := range left {
				e.delete(o.DeepCopy())
			}
			e.gone(typed(e, left)...)
			if n := len(e.pools()); n != 0 {
				t.Errorf("the server still has %d pools", n)
			}
			endpoints, err := e.GARM.ListEndpoints(e.ctx)
			if err != nil || len(endpoints) != 1 || endpoints[0].Name != "github.com" {
				t.Errorf("the server has the endpoints %+v, %v", endpoints, err)
			}
			if n := e.Proxy.Counts().Of("PUT", "/github/endpoints/{id}", 0); n > 0 {
				t.Errorf("%d PUTs to endpoints", n)
			}
		})
	}
}

// abandon removes what a failed test has left.
func abandon(e *env, objects []*unstructured.Unstructured) {
	for _, o := range objects {
		release := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		_ = e.Kube.Patch(context.Background(), o.DeepCopy(), release)
		_ = e.Kube.Delete(context.Background(), o.DeepCopy())
	}
}

// manifests reads the objects of a file as they stand there.
func manifests(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(userManifests, file))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("the manifests of users are not beside this checkout: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Object) > 0 {
			all = append(all, o)
		}
	}
}

// shuffled returns the objects in another order, and logs it for a test that fails.
func shuffled[O client.Object](t *testing.T, objects []O) []O {
	t.Helper()
	out := slices.Clone(objects)
	rand.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	names := make([]string, len(out))
	for i, o := range out {
		names[i] = o.GetObjectKind().GroupVersionKind().Kind + "/" + o.GetName()
	}
	t.Log("order:", names)
	return out
}

// typed returns empty objects of the same kinds and names.
func typed(e *env, objects []*unstructured.Unstructured) []client.Object {
	e.t.Helper()
	out := make([]client.Object, len(objects))
	for i, o := range objects {
		made, err := e.Kube.Scheme().New(o.GroupVersionKind())
		if err != nil {
			e.t.Fatal(err)
		}
		out[i] = made.(client.Object)
		out[i].SetName(o.GetName())
		out[i].SetNamespace(o.GetNamespace())
	}
	return out
}
