package upgrade_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1alpha1"
	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	garmclient "github.com/garm-operator/garm-operator/garm/client"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// fleet is what an old installation holds: resources, and for each the id of what it has at GARM.
type fleet struct {
	resources []client.Object
	ids       map[client.ObjectKey]string // by namespace and "Kind/name"
	pools     map[string]garm.Pool        // by scope and spec: equal pools of old installations share one
}

func key(object client.Object) client.ObjectKey {
	kind := strings.TrimPrefix(fmt.Sprintf("%T", object), "*v1alpha1.")
	return client.ObjectKey{Namespace: object.GetNamespace(), Name: strings.TrimPrefix(kind, "*v1beta1.") + "/" + object.GetName()}
}

// read decodes manifests; nil when the file is absent.
func (c *cluster) read(file string) []client.Object {
	c.t.Helper()
	content, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	c.must(err)
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	var objects []client.Object
	for {
		document := &unstructured.Unstructured{}
		err := decoder.Decode(document)
		if errors.Is(err, io.EOF) {
			return objects
		}
		c.must(err)
		typed, err := c.kube.Scheme().New(document.GroupVersionKind())
		c.must(err)
		c.must(runtime.DefaultUnstructuredConverter.FromUnstructured(document.Object, typed))
		objects = append(objects, typed.(client.Object))
	}
}

// initialise makes the administrator of the server and sets its URLs, as the known operator has.
func (c *cluster) initialise() {
	c.t.Helper()
	g, err := garmclient.New(garmclient.Config{
		BaseURL: c.ServerURL(), Username: stack.User, Password: garmclient.Password(stack.Password), Email: stack.Email, Init: true,
	})
	c.must(err)
	url := func(path string) *string { u := c.ServerURL() + path; return &u }
	_, err = g.UpdateController(c.ctx, garm.UpdateControllerParams{
		MetadataURL: url("/api/v1/metadata"), CallbackURL: url("/api/v1/callbacks"), WebhookURL: url("/webhooks"),
	})
	c.must(err)
}

// github makes an endpoint and a credential at GARM, which had no resources yet in the days of v1alpha1.
func (c *cluster) github(endpoint, credential string) {
	c.t.Helper()
	spec := c.Endpoint(endpoint).Spec
	_, err := c.GARM.CreateEndpoint(c.ctx, garm.CreateEndpointParams{
		Name: endpoint, BaseURL: string(spec.BaseURL), APIBaseURL: string(spec.APIBaseURL), UploadBaseURL: string(spec.UploadBaseURL),
	})
	c.must(err)
	_, err = c.GARM.CreateCredentials(c.ctx, garm.CreateCredentialsParams{
		Name: credential, Description: "a token", Endpoint: endpoint, AuthType: garm.AuthTypePAT, PAT: &garm.PAT{OAuth2Token: "ghp_stack"},
	})
	c.must(err)
}

// store makes the resources as an old operator left them: with finalizers, with what they stand for at GARM, with ids and
// conditions of its release in status.
func (c *cluster) store(resources []client.Object) *fleet {
	c.t.Helper()
	f := &fleet{ids: map[client.ObjectKey]string{}, pools: map[string]garm.Pool{}}
	for _, object := range resources {
		switch o := object.(type) {
		case *corev1.Namespace, *corev1.Secret:
			c.must(client.IgnoreAlreadyExists(c.kube.Create(c.ctx, object)))
			continue
		case *v1alpha1.Image:
			c.must(c.kube.Create(c.ctx, object))
		case *v1alpha1.Enterprise:
			got, err := c.GARM.CreateEnterprise(c.ctx, params(o.Name, "", o.Spec.CredentialsName))
			c.must(err)
			c.storeWith(o, v1beta1.FinalizerEnterprise, func() { o.Status = v1alpha1.EntityStatus{ID: got.ID, Conditions: entityConditions()} })
			f.ids[key(o)] = got.ID
		case *v1alpha1.Organization:
			got, err := c.GARM.CreateOrganization(c.ctx, params(o.Name, "", o.Spec.CredentialsName))
			c.must(err)
			c.storeWith(o, v1beta1.FinalizerOrganization, func() { o.Status = v1alpha1.EntityStatus{ID: got.ID, Conditions: entityConditions()} })
			f.ids[key(o)] = got.ID
		case *v1alpha1.Repository:
			got, err := c.GARM.CreateRepository(c.ctx, params(o.Name, o.Spec.Owner, o.Spec.CredentialsName))
			c.must(err)
			c.storeWith(o, v1beta1.FinalizerRepository, func() { o.Status = v1alpha1.EntityStatus{ID: got.ID, Conditions: entityConditions()} })
			f.ids[key(o)] = got.ID
		case *v1alpha1.Pool:
			id := c.poolOf(f, o)
			c.storeWith(o, v1beta1.FinalizerPool, func() {
				o.Status = v1alpha1.PoolStatus{ID: id, Conditions: conditions(v1beta1.ConditionImageReference, v1beta1.ConditionScopeReference)}
			})
			f.ids[key(o)] = id
		default:
			c.t.Fatalf("no way to store a %T", object)
		}
		f.resources = append(f.resources, object)
	}
	return f
}

func (c *cluster) storeWith(object client.Object, finalizer string, status func()) {
	c.t.Helper()
	object.SetFinalizers([]string{finalizer})
	c.must(c.kube.Create(c.ctx, object))
	status()
	c.must(c.kube.Status().Update(c.ctx, object))
}

// poolOf returns the id of the Pool's pool at GARM, which is made unless an equal one has been.
func (c *cluster) poolOf(f *fleet, o *v1alpha1.Pool) string {
	c.t.Helper()
	content, err := json.Marshal(o.Spec)
	c.must(err)
	if pool, ok := f.pools[o.Namespace+string(content)]; ok {
		return pool.ID
	}
	image := &v1alpha1.Image{}
	c.must(c.kube.Get(c.ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.Spec.ImageName}, image))
	arch := string(v1beta1.OSArch(o.Spec.OSArch).Canonical())
	params := garm.CreatePoolParams{
		RunnerPrefix: o.Spec.RunnerPrefix, ProviderName: o.Spec.ProviderName, MaxRunners: uint(o.Spec.MaxRunners), MinIdleRunners: uint(o.Spec.MinIdleRunners),
		Image: image.Spec.Tag, Flavor: o.Spec.Flavor, OSType: o.Spec.OSType, OSArch: arch, Tags: o.Spec.Tags, Enabled: o.Spec.Enabled,
		RunnerBootstrapTimeout: uint(o.Spec.RunnerBootstrapTimeout), RunnerGroup: o.Spec.GitHubRunnerGroup,
	}
	if o.Spec.ExtraSpecs != "" {
		params.ExtraSpecs = json.RawMessage(o.Spec.ExtraSpecs)
	}
	ref := o.Spec.GitHubScopeRef
	create := map[string]func() (garm.Pool, error){
		v1beta1.KindEnterprise: func() (garm.Pool, error) {
			return c.GARM.CreateEnterprisePool(c.ctx, f.ids[client.ObjectKey{Namespace: o.Namespace, Name: "Enterprise/" + ref.Name}], params)
		},
		v1beta1.KindOrganization: func() (garm.Pool, error) {
			return c.GARM.CreateOrganizationPool(c.ctx, f.ids[client.ObjectKey{Namespace: o.Namespace, Name: "Organization/" + ref.Name}], params)
		},
		v1beta1.KindRepository: func() (garm.Pool, error) {
			return c.GARM.CreateRepositoryPool(c.ctx, f.ids[client.ObjectKey{Namespace: o.Namespace, Name: "Repository/" + ref.Name}], params)
		},
	}[ref.Kind]
	pool, err := create()
	c.must(err)
	f.pools[o.Namespace+string(content)] = pool
	return pool.ID
}

func params(name, owner, credentials string) garm.CreateEntityParams {
	return garm.CreateEntityParams{Name: name, Owner: owner, CredentialsName: credentials, WebhookSecret: "correct-horse-battery"}
}

// entityConditions are those of v0.4.1.
func entityConditions() []metav1.Condition {
	return conditions(v1beta1.ConditionObsoleteSecretReference, v1beta1.ConditionObsoleteCredentialsReference, v1beta1.ConditionPoolManager)
}

func conditions(types ...string) []metav1.Condition {
	var all []metav1.Condition
	for _, name := range append([]string{v1beta1.ConditionReady}, types...) {
		all = append(all, metav1.Condition{Type: name, Status: metav1.ConditionTrue, Reason: "Successfully", LastTransitionTime: metav1.Now()})
	}
	return all
}
