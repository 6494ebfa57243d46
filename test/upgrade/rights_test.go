package upgrade_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/garm-operator/garm-operator/api/v1alpha1"
	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/access"
	"github.com/garm-operator/garm-operator/internal/operator/storageversion"

	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

const imageDefinition = "images." + v1beta1.Group

// How far stored resources are written again depends on what the operator may do; it says once what it may not, and goes on.
func TestRewriteWithTheRightsAtHand(t *testing.T) {
	c := bare(t)
	c.installOld()
	for _, namespace := range []string{oldFleet, operatorNamespace} {
		image := &v1alpha1.Image{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "old"}, Spec: v1alpha1.ImageSpec{Tag: "ubuntu"}}
		c.must(c.kube.Create(c.ctx, image))
	}
	c.installNew()
	read := []rbacv1.PolicyRule{{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: []string{"get"}}}
	write := []rbacv1.PolicyRule{{APIGroups: []string{v1beta1.Group}, Resources: []string{"images"}, Verbs: []string{"list", "patch"}}}
	both, old := []string{"v1alpha1", "v1beta1"}, []string{oldFleet}

	for _, step := range []rightsStep{
		{"no rights", c.user("nobody", nil, nil), old, "may not look", both},
		{"definitions only", c.user("reader", read, nil), old, "may not rewrite", both},
		{"one namespace", c.user("one", read, write, oldFleet), old, "may not note", both},
	} {
		c.rewrites(step)
	}
	t.Run("some namespaces are done once", c.someNamespacesOnce)
	for _, step := range []rightsStep{
		{"no status", c.user("no-status", slices.Concat(read, write), nil), nil, "may not record", both},
		{"all", c.plane.Config(), nil, "rewrote the resources", []string{"v1beta1"}},
		{"nothing left", c.plane.Config(), nil, "", []string{"v1beta1"}},
	} {
		c.rewrites(step)
	}
	list := &v1beta1.ImageList{}
	c.must(c.kube.List(c.ctx, list))
	for _, image := range list.Items {
		if image.Generation != 1 || image.Spec.Tag != "ubuntu" {
			t.Errorf("rewriting has changed %+v", image)
		}
	}
}

// rightsStep is a rewrite with some rights: what is said, and which versions are left.
type rightsStep struct {
	name       string
	config     *rest.Config
	namespaces []string
	said       string
	want       []string
}

func (c *cluster) rewrites(step rightsStep) {
	c.t.Helper()
	options := storageversion.Options{
		Definitions: []string{imageDefinition, "missing." + v1beta1.Group}, Namespaces: step.namespaces, Pause: time.Millisecond,
	}
	c.eventually(func() error { // roles take a moment
		said, err := c.rewrite(step.config, options)
		if err == nil && (!strings.Contains(said, step.said) || (step.said == "") != (said == "")) {
			err = fmt.Errorf("%s: the log is %q, want %q", step.name, said, step.said)
		}
		return err
	})
	if got := c.storedVersions()["images"]; !slices.Equal(got, step.want) {
		c.t.Errorf("%s: stored versions are %v, want %v", step.name, got, step.want)
	}
}

// An operator of some namespaces, with the rights that it ships with, writes the resources of a namespace again once, and at
// later starts only where the definition has changed or a namespace has come.
func (c *cluster) someNamespacesOnce(t *testing.T) {
	patches := 0
	config := c.user("some", access.Cluster(), access.Watched(), oldFleet, operatorNamespace)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPatch {
				patches++
			}
			return next.RoundTrip(r)
		})
	})
	start := func(name, want string, patched int, namespaces ...string) {
		t.Helper()
		c.eventually(func() error { // roles take a moment
			patches = 0
			said, err := c.rewrite(config, storageversion.Options{Definitions: []string{imageDefinition}, Namespaces: namespaces, Pause: time.Millisecond})
			if err == nil && (!strings.Contains(said, want) || (want == "") != (said == "") || strings.Contains(said, "may not note")) {
				err = fmt.Errorf("%s: the log is %q, want %q", name, said, want)
			}
			return err
		})
		if patches != patched {
			t.Errorf("%s: %d patches, want %d", name, patches, patched)
		}
	}
	start("first start", "rewrote", 2, oldFleet) // the image, and the note
	start("second start", "", 0, oldFleet)
	start("one namespace more", "rewrote", 2, oldFleet, operatorNamespace)
	start("with both again", "", 0, oldFleet, operatorNamespace)
	c.change(imageDefinition, func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Names.ShortNames = []string{"img"} })
	start("another definition", "rewrote", 4, oldFleet, operatorNamespace)
	start("the same definition", "", 0, oldFleet, operatorNamespace)
	c.change(imageDefinition, func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Names.ShortNames = nil })
	start("another definition, and one namespace less", "rewrote", 2, oldFleet)
	if notes := c.notes(imageDefinition); len(notes) != 1 || !strings.HasSuffix(notes[0], "/"+oldFleet) {
		t.Errorf("the definition has the notes %v", notes)
	}
	if got := c.storedVersions()["images"]; !slices.Equal(got, []string{"v1alpha1", "v1beta1"}) {
		t.Errorf("stored versions are %v, and other namespaces may hold old resources", got)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// user returns a user with rules for the whole cluster, and rules in some namespaces.
func (c *cluster) user(name string, everywhere, inside []rbacv1.PolicyRule, namespaces ...string) *rest.Config {
	c.t.Helper()
	config, err := c.plane.AddUser(name)
	c.must(err)
	meta := metav1.ObjectMeta{Name: "test-" + name}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}
	if len(everywhere) > 0 {
		c.must(c.kube.Create(c.ctx, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: everywhere}))
		c.must(c.kube.Create(c.ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		}))
	}
	for _, meta.Namespace = range namespaces {
		c.must(c.kube.Create(c.ctx, &rbacv1.Role{ObjectMeta: meta, Rules: inside}))
		c.must(c.kube.Create(c.ctx, &rbacv1.RoleBinding{
			ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		}))
	}
	return config
}

// rewrite runs the rewriter once and returns its log.
func (c *cluster) rewrite(config *rest.Config, options storageversion.Options) (log string, err error) {
	out := &stack.Output{}
	options.Log = logr.FromSlogHandler(slog.NewTextHandler(out, nil))
	rewriter, err := storageversion.New(config, nil, options)
	if err != nil {
		return "", err
	}
	err = rewriter.Start(c.ctx)
	return out.String(), err
}
