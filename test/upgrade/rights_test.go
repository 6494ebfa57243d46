package upgrade_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/garm-operator/garm-operator/api/v1alpha1"
	"github.com/garm-operator/garm-operator/api/v1beta1"
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
	read := rbacv1.PolicyRule{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: []string{"get"}}
	write := rbacv1.PolicyRule{APIGroups: []string{v1beta1.Group}, Resources: []string{"images"}, Verbs: []string{"list", "patch"}}
	both, old := []string{"v1alpha1", "v1beta1"}, []string{oldFleet}

	for _, step := range []struct {
		name       string
		config     *rest.Config
		namespaces []string
		said       string
		want       []string
	}{
		{"no rights", c.user("nobody", nil, nil), old, "may not look", both},
		{"definitions only", c.user("reader", &read, nil), old, "may not rewrite", both},
		{"one namespace", c.user("one", &read, &write), old, "other namespaces may hold", both},
		{"no status", c.user("no-status", ruleOf(read, write), nil), nil, "may not record", both},
		{"all", c.plane.Config(), nil, "rewrote the resources", []string{"v1beta1"}},
		{"nothing left", c.plane.Config(), nil, "", []string{"v1beta1"}},
	} {
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
			t.Errorf("%s: stored versions are %v, want %v", step.name, got, step.want)
		}
	}
	list := &v1beta1.ImageList{}
	c.must(c.kube.List(c.ctx, list))
	for _, image := range list.Items {
		if image.Generation != 1 || image.Spec.Tag != "ubuntu" {
			t.Errorf("rewriting has changed %+v", image)
		}
	}
}

// ruleOf is a role of several rules, marked as one for the whole cluster.
func ruleOf(rules ...rbacv1.PolicyRule) *rbacv1.PolicyRule {
	merged := rbacv1.PolicyRule{}
	for _, rule := range rules {
		merged.APIGroups = append(merged.APIGroups, rule.APIGroups...)
		merged.Resources = append(merged.Resources, rule.Resources...)
		merged.Verbs = append(merged.Verbs, rule.Verbs...)
	}
	return &merged
}

// user returns a user with a rule for the whole cluster and one for the old fleet's namespace.
func (c *cluster) user(name string, everywhere, inFleet *rbacv1.PolicyRule) *rest.Config {
	c.t.Helper()
	config, err := c.plane.AddUser(name)
	c.must(err)
	meta := metav1.ObjectMeta{Name: "test-" + name}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}
	if everywhere != nil {
		c.must(c.kube.Create(c.ctx, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{*everywhere}}))
		c.must(c.kube.Create(c.ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		}))
	}
	if inFleet != nil {
		meta.Namespace = oldFleet
		c.must(c.kube.Create(c.ctx, &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{*inFleet}}))
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
	rewriter, err := storageversion.New(config, options)
	if err != nil {
		return "", err
	}
	err = rewriter.Start(c.ctx)
	return out.String(), err
}
