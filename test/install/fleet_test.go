package install_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// makeNamespace makes a namespace.
func (i *installation) makeNamespace(name string) {
	i.t.Helper()
	err := i.Kube.Create(i.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if client.IgnoreAlreadyExists(err) != nil {
		i.t.Fatal(err)
	}
	i.namespaces = append(i.namespaces, name)
}

// fleet makes resources of every kind in a namespace, under names of its own at GARM, and waits until all are Ready and a
// runner is shown.
func (i *installation) fleet(namespace string) []client.Object {
	i.t.Helper()
	endpoint := i.Endpoint("github-" + namespace)
	credential := i.Credential("bot-"+namespace, endpoint.Name, stack.TokenSecret)
	org := i.Organization("org-" + namespace)
	org.Spec.CredentialsRef.Name = credential.Name
	repo := &v1beta1.Repository{ObjectMeta: metav1.ObjectMeta{Name: "widgets"}, Spec: v1beta1.RepositorySpec{
		Owner: org.Name, CredentialsRef: org.Spec.CredentialsRef, WebhookSecretRef: org.Spec.WebhookSecretRef,
	}}
	enterprise := &v1beta1.Enterprise{ObjectMeta: metav1.ObjectMeta{Name: "enterprise-" + namespace}, Spec: v1beta1.EnterpriseSpec{
		CredentialsRef: org.Spec.CredentialsRef, WebhookSecretRef: org.Spec.WebhookSecretRef,
	}}
	pool := i.Pool("p")
	pool.Spec.GitHubScopeRef.Name, pool.Spec.MinIdleRunners = org.Name, 1
	urls := v1beta1.URL(i.ServerURL())
	config := &v1beta1.GarmServerConfig{ObjectMeta: metav1.ObjectMeta{Name: stack.ServerConfig}, Spec: v1beta1.GarmServerConfigSpec{
		MetadataURL: urls + "/api/v1/metadata", CallbackURL: urls + "/api/v1/callbacks", WebhookURL: urls + "/webhooks",
	}}
	objects := []client.Object{
		config, i.Secret(stack.TokenSecret, "ghp_stack"), i.Secret(stack.WebhookSecret, "correct-horse-battery"), endpoint, credential,
		org, repo, enterprise, i.Image(stack.ImageName, "ubuntu-24.04"), pool,
	}
	for _, o := range objects {
		o.SetNamespace(namespace)
	}
	for _, o := range objects {
		i.eventually(func() error { return i.Apply(i.ctx, o) }) // a Pool is refused until the webhooks are served
	}
	i.eventually(func() error { return errors.Join(i.allReady(objects), i.runnersShown(namespace, 1)) })
	i.judges(pool)
	return objects
}

// judges proves that the webhooks find what they look for: a Pool that equals another, and the user of an Image.
func (i *installation) judges(pool *v1beta1.Pool) {
	i.t.Helper()
	equal := &v1beta1.Pool{ObjectMeta: metav1.ObjectMeta{Namespace: pool.Namespace, Name: "equal"}, Spec: pool.Spec}
	if err := i.Kube.Create(i.ctx, equal); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), strconv.Quote(pool.Name)) {
		i.t.Errorf("a second Pool with the same spec: %v", err)
	}
	used := &v1beta1.Image{ObjectMeta: metav1.ObjectMeta{Namespace: pool.Namespace, Name: pool.Spec.ImageName}}
	if err := i.Kube.Delete(i.ctx, used); err == nil || !strings.Contains(err.Error(), "is used by Pool") {
		i.t.Errorf("the deletion of an Image that is in use: %v", err)
	}
}

// loseRunner removes the runner of a fleet at GARM, and waits until it is not shown any more.
func (i *installation) loseRunner(namespace string) {
	i.t.Helper()
	runners := &v1beta1.RunnerList{}
	if err := i.Kube.List(i.ctx, runners, client.InNamespace(namespace)); err != nil {
		i.t.Fatal(err)
	}
	lost := &runners.Items[0]
	if err := i.GARM.DeleteInstance(i.ctx, lost.Status.Name, true); err != nil {
		i.t.Fatal(err)
	}
	i.eventually(func() error {
		if err := i.Kube.Get(i.ctx, client.ObjectKeyFromObject(lost), lost); !apierrors.IsNotFound(err) {
			return fmt.Errorf("Runner %s is still there: %w", lost.Name, err)
		}
		return nil
	})
}

// converged waits until all objects that have conditions are Ready, and returns them.
func (i *installation) converged(decoded []*unstructured.Unstructured) []client.Object {
	i.t.Helper()
	objects := make([]client.Object, len(decoded))
	for n, o := range decoded {
		made, err := i.Kube.Scheme().New(o.GroupVersionKind())
		if err != nil {
			i.t.Fatal(err)
		}
		objects[n] = made.(client.Object)
		objects[n].SetName(o.GetName())
		objects[n].SetNamespace(o.GetNamespace())
	}
	i.eventually(func() error { return i.allReady(objects) })
	return objects
}

// allReady returns what is missing for all objects that have conditions to be Ready.
func (i *installation) allReady(objects []client.Object) error {
	for _, o := range objects {
		if err := i.ready(o); err != nil {
			return err
		}
	}
	return nil
}

func (i *installation) ready(o client.Object) error {
	conditioned, ok := o.(v1beta1.Conditioned)
	if !ok {
		return nil
	}
	if err := i.Kube.Get(i.ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	return stack.Ready(o, conditioned)
}

// remove deletes objects, the last ones first, and waits until they are gone.
func (i *installation) remove(objects []client.Object) {
	i.t.Helper()
	for _, o := range slices.Backward(objects) {
		if err := i.Kube.Delete(i.ctx, o); err != nil {
			i.t.Fatal(err)
		}
	}
	i.eventually(func() error {
		for _, o := range objects {
			if err := i.Kube.Get(i.ctx, client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%T %s is still there: %w", o, o.GetName(), err)
			}
		}
		return nil
	})
}

// runnersShown returns what is missing for n Runners of a namespace to be shown as running.
func (i *installation) runnersShown(namespace string, n int) error {
	runners := &v1beta1.RunnerList{}
	if err := i.Kube.List(i.ctx, runners, client.InNamespace(namespace)); err != nil {
		return err
	}
	shown := 0
	for _, r := range runners.Items {
		if r.Status.InstanceStatus == "running" {
			shown++
		}
	}
	if shown < n {
		return fmt.Errorf("%d of %d Runners are running: %+v", shown, n, runners.Items)
	}
	return nil
}
