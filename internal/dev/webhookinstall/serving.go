package webhookinstall

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1alpha1"
	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// WaitServing waits until the API server calls the operator and trusts it, for the conversion of every kind that needs one and for
// admission: until nothing is left of what the API server was told before. It creates nothing.
//
// An API server takes up a changed call some time after it has accepted the change, for each custom resource definition by itself.
func WaitServing(ctx context.Context, config *rest.Config) error {
	c, err := newClient(config)
	if err != nil {
		return err
	}
	definitions, err := definitions(ctx, c)
	if err != nil {
		return err
	}
	var kinds []string
	for i := range definitions {
		if d := &definitions[i]; d.Spec.Conversion != nil && d.Spec.Conversion.Webhook != nil {
			kinds = append(kinds, d.Spec.Names.Kind)
		}
	}
	var last error
	err = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		last = serves(ctx, c, kinds)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the API server to call the operator: %w: %w", err, last)
	}
	return nil
}

// serves tries, without creating, an object in the old version of every converted kind, and a Pool that admission alone refuses.
func serves(ctx context.Context, c client.Client, converted []string) error {
	for _, kind := range converted {
		// It has to be whole: what lacks a field is refused before it is converted.
		if err := c.Create(ctx, oldProbe(kind), client.DryRunAll); err != nil {
			return fmt.Errorf("a %s in the old version was refused: %w", kind, err)
		}
	}
	if err := c.Create(ctx, probePool(), client.DryRunAll); !apierrors.IsInvalid(err) {
		return fmt.Errorf("a Pool with bad extraSpecs was not refused: %w", err)
	}
	return nil
}

// oldProbe is a whole object in the old version.
func oldProbe(kind string) client.Object {
	spec := map[string]any{"credentialsName": "probe", "webhookSecretRef": map[string]any{"name": "probe", "key": "probe"}}
	switch kind {
	case v1beta1.KindRepository:
		spec["owner"] = "probe"
	case v1beta1.KindPool:
		spec = map[string]any{
			"githubScopeRef": map[string]any{"kind": v1beta1.KindOrganization, "name": "probe"}, "providerName": "probe", "imageName": "probe",
			"flavor": "probe-old", "osType": "linux", "osArch": "amd64", "tags": []any{"probe"}, "enabled": true,
			"maxRunners": int64(1), "minIdleRunners": int64(0), "runnerBootstrapTimeout": int64(20),
		}
	}
	probe := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	probe.SetGroupVersionKind(schema.GroupVersionKind{Group: v1beta1.Group, Version: v1alpha1.GroupVersion.Version, Kind: kind})
	probe.SetNamespace(metav1.NamespaceDefault)
	probe.SetName("probe")
	return probe
}

// probePool is a Pool whose only fault is one that the operator finds.
func probePool() *v1beta1.Pool {
	group := v1beta1.Group
	return &v1beta1.Pool{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "probe"}, Spec: v1beta1.PoolSpec{
		GitHubScopeRef: v1beta1.TypedLocalObjectReference{APIGroup: &group, Kind: v1beta1.KindOrganization, Name: "probe"},
		ProviderName:   "probe", ImageName: "probe", Flavor: "probe", OSType: v1beta1.OSTypeLinux, OSArch: v1beta1.OSArchAMD64,
		Tags: []string{"probe"}, MaxRunners: 1, RunnerBootstrapTimeout: 20, ExtraSpecs: "{bad}",
	}}
}
