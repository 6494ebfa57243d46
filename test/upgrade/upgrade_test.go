package upgrade_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1alpha1"
	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/dev/webhookinstall"
	"github.com/garm-operator/garm-operator/internal/operator/status"
	"github.com/garm-operator/garm-operator/internal/operator/status/statustest"
)

const samples = "../../../shared/samples/v1alpha1/"

// Resources that old releases stored are taken over where they are. Nothing is created at GARM, whatever comes first: the
// resources of v1alpha1, or the GitHubEndpoints and GitHubCredentials that came with v1beta1.
func TestOP60Upgrade(t *testing.T) {
	c := setup(t)
	c.initialise()
	c.installOld()
	c.github("github", "old-token")
	old := c.store(c.read("testdata/fleet.yaml"))
	namespaces := oldFleet
	var users *fleet
	if found := c.read(samples + "fleet.yaml"); found != nil {
		c.github("github-prod", "github-pat")
		users = c.store(append(found, c.read(samples+"two-equal-pools.yaml")...))
		namespaces += ",garm-prod"
	} else {
		t.Logf("no manifests of users in %s", samples)
	}

	c.installNew()
	c.must(webhookinstall.Install(c.ctx, c.plane.Config(), "https://localhost:1"))
	stop := c.operator(namespaces)
	// A Service leads to a replica once it is ready, so it has to be ready before anything is converted for it.
	c.eventually(c.ready)
	c.eventually(func() error { return webhookinstall.Install(c.ctx, c.plane.Config(), c.url()) })

	c.missing(old, users)
	c.applyGitHub(oldFleet, "github", "old-token")
	if users != nil {
		c.applyGitHub("garm-prod", "github-prod", "github-pat")
	}
	c.takenOver(old, users)

	for plural, versions := range c.awaitRewritten() {
		if !slices.Equal(versions, []string{"v1beta1"}) {
			t.Errorf("%s are stored as %v", plural, versions)
		}
	}
	c.paused()
	c.edited()
	c.appliedAgain()
	stop()
	c.removable()
	c.readableWithoutOperator(old)

	counts := c.Proxy.Counts()
	if n := counts.Of("POST", "", 0) - counts.Of("POST", "/auth/login", 0); n > 0 {
		t.Errorf("%d POSTs:\n%s", n, counts)
	}
	if n := counts.Of("DELETE", "", 0); n > 0 {
		t.Errorf("%d DELETEs:\n%s", n, counts)
	}
}

// hubOf returns the empty v1beta1 object of a resource with a status, or of an Image.
func hubOf(object client.Object) client.Object {
	var hub client.Object
	switch object.(type) {
	case *v1alpha1.Enterprise:
		hub = &v1beta1.Enterprise{}
	case *v1alpha1.Organization:
		hub = &v1beta1.Organization{}
	case *v1alpha1.Repository:
		hub = &v1beta1.Repository{}
	case *v1alpha1.Pool:
		hub = &v1beta1.Pool{}
	default:
		hub = &v1beta1.Image{}
	}
	hub.SetName(object.GetName())
	hub.SetNamespace(object.GetNamespace())
	return hub
}

func idOf(object client.Object) string {
	switch o := object.(type) {
	case *v1beta1.Enterprise:
		return o.Status.ID
	case *v1beta1.Organization:
		return o.Status.ID
	case *v1beta1.Repository:
		return o.Status.ID
	case *v1beta1.Pool:
		return o.Status.ID
	}
	return ""
}

func isPaused(object client.Object) bool {
	_, paused := object.GetAnnotations()[v1beta1.AnnotationPaused]
	return paused
}

// each looks at the v1beta1 form of every resource of the fleets that has a status, until check is content.
func (c *cluster) each(check func(f *fleet, hub client.Object) error, fleets ...*fleet) {
	c.t.Helper()
	for _, f := range fleets {
		if f == nil {
			continue
		}
		for _, object := range f.resources {
			hub := hubOf(object)
			if _, hasStatus := hub.(v1beta1.Conditioned); !hasStatus || isPaused(object) {
				continue
			}
			c.eventually(func() error {
				if err := c.kube.Get(c.ctx, client.ObjectKeyFromObject(hub), hub); err != nil {
					return err
				}
				if err := check(f, hub); err != nil {
					return fmt.Errorf("%s: %w", key(hub), err)
				}
				return nil
			})
		}
	}
}

// missing waits until the entities say what they need.
func (c *cluster) missing(fleets ...*fleet) {
	c.t.Helper()
	c.each(func(f *fleet, hub client.Object) error {
		if _, isPool := hub.(*v1beta1.Pool); isPool {
			return nil
		}
		condition := status.Find(hub.(v1beta1.Conditioned), v1beta1.ConditionGithubCredentialsReference)
		if condition == nil || condition.Status != metav1.ConditionFalse || condition.Reason != v1beta1.ReasonGithubCredentialsRefFailed ||
			!strings.Contains(condition.Message, "GitHubCredential") {
			return fmt.Errorf("%s is %+v", v1beta1.ConditionGithubCredentialsReference, condition)
		}
		if ready := status.Find(hub.(v1beta1.Conditioned), v1beta1.ConditionReady); ready == nil || ready.Status != metav1.ConditionFalse {
			return fmt.Errorf("ready is %+v", ready)
		}
		if idOf(hub) != f.ids[key(hub)] {
			return fmt.Errorf("the id was %s and is %s", f.ids[key(hub)], idOf(hub))
		}
		return nil
	}, fleets...)
}

// applyGitHub makes the resources that v1alpha1 had not.
func (c *cluster) applyGitHub(namespace, endpoint, credential string) {
	c.t.Helper()
	e := c.Endpoint(endpoint)
	e.Namespace = namespace
	k := c.Credential(credential, endpoint, "token-of-"+credential)
	k.Namespace = namespace
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "token-of-" + credential}, StringData: map[string]string{stack.SecretKey: "ghp_stack"},
	}
	for _, object := range []client.Object{secret, e, k} {
		c.must(c.kube.Create(c.ctx, object))
	}
}

// takenOver waits until everything is Ready with the id that it had, but for the younger of two Pools that share one.
func (c *cluster) takenOver(fleets ...*fleet) {
	c.t.Helper()
	c.each(func(f *fleet, hub client.Object) error {
		conditioned := hub.(v1beta1.Conditioned)
		ready := status.Find(conditioned, v1beta1.ConditionReady)
		want, reason := metav1.ConditionTrue, v1beta1.ReasonReconcileSuccess
		if f.younger(hub) {
			want, reason = metav1.ConditionFalse, v1beta1.ReasonDuplicatePoolFound
		}
		if ready == nil || ready.Status != want || ready.Reason != reason || ready.ObservedGeneration != hub.GetGeneration() {
			return fmt.Errorf("ready is %+v, not %s %s", ready, want, reason)
		}
		if idOf(hub) != f.ids[key(hub)] && !f.younger(hub) {
			return fmt.Errorf("the id was %s and is %s", f.ids[key(hub)], idOf(hub))
		}
		for _, condition := range conditioned.GetConditions() {
			if slices.Contains([]string{v1beta1.ConditionObsoleteSecretReference, v1beta1.ConditionObsoleteCredentialsReference}, condition.Type) {
				return fmt.Errorf("still has the condition %s", condition.Type)
			}
		}
		for _, err := range statustest.Laws(conditioned) {
			c.t.Errorf("%s: %v", key(hub), err)
		}
		return nil
	}, fleets...)
}

// younger reports whether an older Pool of the fleet has the same id. The order of the manifests is the age, unless both were
// made within one second; then the uid decides.
func (f *fleet) younger(hub client.Object) bool {
	for _, other := range f.resources {
		if pool, ok := other.(*v1alpha1.Pool); ok && pool.UID != hub.GetUID() && f.ids[key(pool)] == f.ids[key(hub)] {
			at, bt := pool.GetCreationTimestamp(), hub.GetCreationTimestamp()
			if at.Before(&bt) || (at.Equal(&bt) && pool.UID < hub.GetUID()) {
				return true
			}
		}
	}
	return false
}

// awaitRewritten waits until no definition says that v1alpha1 is stored.
func (c *cluster) awaitRewritten() map[string][]string {
	c.t.Helper()
	var stored map[string][]string
	c.eventually(func() error {
		stored = c.storedVersions()
		for plural, versions := range stored {
			if slices.Contains(versions, "v1alpha1") {
				return fmt.Errorf("%s are stored as %v", plural, versions)
			}
		}
		return nil
	})
	return stored
}

// paused shows that a paused resource was rewritten and nothing else.
func (c *cluster) paused() {
	c.t.Helper()
	repository := &v1beta1.Repository{}
	c.must(c.kube.Get(c.ctx, client.ObjectKey{Namespace: oldFleet, Name: "left-alone"}, repository))
	if repository.Generation != 1 || status.Find(repository, v1beta1.ConditionPaused) == nil {
		c.t.Errorf("the paused repository has generation %d, conditions %v", repository.Generation, repository.Status.Conditions)
	}
	if repository.Spec.CredentialsRef.Name != "old-token" || repository.Status.ID == "" {
		c.t.Errorf("the paused repository is %+v", repository)
	}
}

// edited changes a resource through both versions in turn.
func (c *cluster) edited() {
	c.t.Helper()
	name := client.ObjectKey{Namespace: oldFleet, Name: "acme"}
	hub, spoke := &v1beta1.Organization{}, &v1alpha1.Organization{}
	c.must(c.kube.Get(c.ctx, name, hub))
	base := hub.DeepCopy()
	hub.Spec.PoolBalancerType = v1beta1.PoolBalancerTypePack
	c.must(c.kube.Patch(c.ctx, hub, client.MergeFrom(base)))

	c.must(c.kube.Get(c.ctx, name, spoke))
	old := spoke.DeepCopy()
	spoke.Labels = map[string]string{"edited": "yes"}
	spoke.Spec.WebhookSecretRef.Name = "hook-secret-2"
	c.must(c.kube.Patch(c.ctx, spoke, client.MergeFrom(old)))

	c.must(c.kube.Get(c.ctx, name, hub))
	if hub.Spec.PoolBalancerType != v1beta1.PoolBalancerTypePack || hub.Spec.WebhookSecretRef.Name != "hook-secret-2" || hub.Labels["edited"] != "yes" {
		c.t.Errorf("after both edits: %+v", hub.Spec)
	}
	if _, shown := hub.Annotations[v1alpha1.AnnotationConversionData]; shown {
		c.t.Error("v1beta1 shows the annotation of the conversion")
	}
	if hub.Status.ControllerID == "" {
		c.t.Error("the controller id is lost")
	}
}

// appliedAgain applies what a manifest of v1alpha1 says once more, which changes nothing.
func (c *cluster) appliedAgain() {
	c.t.Helper()
	pool := &v1alpha1.Pool{ObjectMeta: metav1.ObjectMeta{Namespace: oldFleet, Name: "org-large"}}
	c.must(c.kube.Get(c.ctx, client.ObjectKeyFromObject(pool), pool))
	generation, version := pool.Generation, pool.ResourceVersion
	same := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"extraSpecs":"","githubRunnerGroup":"","runnerPrefix":""}}`))
	c.must(c.kube.Patch(c.ctx, pool, same))
	if pool.Generation != generation || pool.ResourceVersion != version {
		c.t.Errorf("the generation was %d at version %s and is %d at %s", generation, version, pool.Generation, pool.ResourceVersion)
	}
}

// removable deletes a resource that was made in v1alpha1, and takes its finalizer, while nobody converts.
func (c *cluster) removable() {
	c.t.Helper()
	pool := &v1beta1.Pool{ObjectMeta: metav1.ObjectMeta{Namespace: oldFleet, Name: "org-large"}}
	c.must(c.kube.Delete(c.ctx, pool))
	c.must(c.kube.Patch(c.ctx, pool, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
	if err := c.kube.Get(c.ctx, client.ObjectKeyFromObject(pool), pool); !apierrors.IsNotFound(err) {
		c.t.Errorf("the Pool is still there: %v", err)
	}
}

// readableWithoutOperator proves that nothing is stored as v1alpha1 any more, not even what the operator never writes
// otherwise, such as Images: the version goes, and all is read.
func (c *cluster) readableWithoutOperator(f *fleet) {
	c.t.Helper()
	for _, definition := range c.definitions() {
		c.change(definition.Name, func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
			d.Spec.Versions = slices.DeleteFunc(d.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == "v1alpha1" })
		})
	}
	for _, object := range f.resources {
		hub := hubOf(object)
		if object.GetName() == "org-large" { // removed before
			continue
		}
		c.eventually(func() error { return c.kube.Get(c.ctx, client.ObjectKeyFromObject(hub), hub) })
		if diff := cmp.Diff(object.GetUID(), hub.GetUID()); diff != "" {
			c.t.Errorf("%s: %s", key(hub), diff)
		}
	}
}
