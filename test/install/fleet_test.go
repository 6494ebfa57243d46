package install_test

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// namespace makes a namespace.
func (i *installation) namespace(name string) {
	i.t.Helper()
	err := i.Kube.Create(i.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if client.IgnoreAlreadyExists(err) != nil {
		i.t.Fatal(err)
	}
}

// fleet makes an organization with a pool in a namespace, under names of its own, waits until all is Ready, and removes
// it again.
func (i *installation) fleet(namespace string) {
	i.t.Helper()
	endpoint := i.Endpoint("github-" + namespace)
	credential := i.Credential("bot-"+namespace, endpoint.Name, stack.TokenSecret)
	org := i.Organization("org-" + namespace)
	org.Spec.CredentialsRef.Name = credential.Name
	pool := i.Pool("p")
	pool.Spec.GitHubScopeRef.Name = org.Name
	urls := v1beta1.URL(i.ServerURL())
	config := &v1beta1.GarmServerConfig{ObjectMeta: metav1.ObjectMeta{Name: stack.ServerConfig}, Spec: v1beta1.GarmServerConfigSpec{
		MetadataURL: urls + "/api/v1/metadata", CallbackURL: urls + "/api/v1/callbacks", WebhookURL: urls + "/webhooks",
	}}
	objects := []client.Object{
		config, i.Secret(stack.TokenSecret, "ghp_stack"), i.Secret(stack.WebhookSecret, "correct-horse-battery"), endpoint, credential, org, i.Image(stack.ImageName, "ubuntu-24.04"), pool,
	}
	for _, o := range objects {
		o.SetNamespace(namespace)
	}
	for _, o := range objects {
		i.eventually(func() error { return i.Apply(i.ctx, o) }) // a Pool is refused until the webhooks are served
	}
	i.eventually(func() error {
		for _, o := range objects {
			if err := i.ready(o); err != nil {
				return err
			}
		}
		return nil
	})
	i.remove(objects)
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
	i.eventually(func() error {
		for _, o := range objects {
			if err := i.ready(o); err != nil {
				return err
			}
		}
		return nil
	})
	return objects
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

// runnersShown returns what is missing for n Runners to be shown as running.
func (i *installation) runnersShown(n int) error {
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
