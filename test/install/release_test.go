package install_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/garm-operator/garm-operator/internal/dev/manifests"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// releaseFiles makes the manifests of a release and returns them by name.
func releaseFiles(t *testing.T) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	if _, err := tools.Run(t.Context(), "manifests", "../../config", "v1.2.3", dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// OP-58: the files of a release have the known variables and no others; filled in, whatever the values are, the password is in
// a Secret alone, as the text that it is, and the role is that of the namespace which is watched.
func TestOP58ReleaseManifests(t *testing.T) {
	t.Parallel()
	files := releaseFiles(t)
	for name, want := range map[string][]string{
		"garm_operator_all.yaml": {
			"GARM_SERVER_PASSWORD", "GARM_SERVER_URL", "GARM_SERVER_USERNAME", "OPERATOR_WATCH_NAMESPACE", "OPERATOR_WATCH_NAMESPACE", "OPERATOR_WATCH_NAMESPACE",
		},
		"garm_operator_crds.yaml":                nil,
		"garm_operator_embedded.yaml":            nil,
		"garm_operator_rbac_namespace.yaml":      {"NAMESPACE", "NAMESPACE"},
		"garm_operator_rbac_all_namespaces.yaml": nil,
	} {
		got := manifests.Variables(files[name])
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the variables of %s (-want +got):\n%s", name, diff)
		}
	}
	all, crds, rest := normal(t, files["garm_operator_all.yaml"]), normal(t, files["garm_operator_crds.yaml"]), normal(t, files["garm_operator.yaml"])
	if len(crds) != 9 || len(all) != len(crds)+len(rest) {
		t.Errorf("%d objects, of which %d definitions and %d others", len(all), len(crds), len(rest))
	}
	for _, password := range []string{"0123", "true", `a"b'c\d: #e`, "{x: y}"} {
		variables := map[string]string{
			"GARM_SERVER_URL": "https://garm.example.com", "GARM_SERVER_USERNAME": "admin", "GARM_SERVER_PASSWORD": password, "OPERATOR_WATCH_NAMESPACE": "team-a",
		}
		objects := normal(t, manifests.Expand(files["garm_operator.yaml"], variables))
		secret := objects["Secret garm-operator-system/garm-operator-garm-credentials"].(*corev1.Secret)
		if secret.StringData["password"] != password {
			t.Errorf("the password %q became %q", password, secret.StringData["password"])
		}
		deployment := objects["Deployment garm-operator-system/garm-operator-controller-manager"].(*appsv1.Deployment)
		container := deployment.Spec.Template.Spec.Containers[0]
		if container.Image != "ghcr.io/garm-operator/garm-operator:v1.2.3" {
			t.Errorf("the image is %q", container.Image)
		}
		if args := strings.Join(container.Args, " "); strings.Contains(args, "password") || strings.Contains(args, password) {
			t.Errorf("the arguments are %q", args)
		}
		if _, ok := objects["Role team-a/garm-operator-manager-role"].(*rbacv1.Role); !ok {
			t.Error("the role is not in the namespace that is watched")
		}
		binding := objects["RoleBinding team-a/garm-operator-manager-rolebinding"].(*rbacv1.RoleBinding)
		if binding.Subjects[0].Namespace != namespace {
			t.Errorf("the role is bound to an account of %q", binding.Subjects[0].Namespace)
		}
	}
	role := normal(t, files["garm_operator_rbac_all_namespaces.yaml"])
	if role["ClusterRole /garm-operator-manager-role"] == nil || role["ClusterRoleBinding /garm-operator-manager-rolebinding"] == nil || len(role) != 2 {
		t.Errorf("the roles for all namespaces are %v", role)
	}
	more := normal(t, manifests.Expand(files["garm_operator_rbac_namespace.yaml"], map[string]string{"NAMESPACE": "team-b"}))
	if more["Role team-b/garm-operator-manager-role"] == nil || more["RoleBinding team-b/garm-operator-manager-rolebinding"] == nil || len(more) != 2 {
		t.Errorf("the roles for one more namespace are %v", more)
	}
}

// kubectl applies a file from its top: what is in a namespace that is not there yet would be refused.
func TestNamespaceComesFirst(t *testing.T) {
	t.Parallel()
	files := releaseFiles(t)
	for _, name := range []string{"garm_operator_all.yaml", "garm_operator.yaml", "garm_operator_embedded.yaml"} {
		objects, err := manifests.Decode(files[name])
		if err != nil {
			t.Fatal(err)
		}
		if first := objects[0]; first.GetKind() != "Namespace" || first.GetName() != namespace {
			t.Errorf("%s begins with the %s %s", name, first.GetKind(), first.GetName())
		}
	}
}

// The shipped Pods fulfil the restricted pod security standard, and have no Secret in their arguments.
func TestShippedPodsAreRestricted(t *testing.T) {
	t.Parallel()
	files := releaseFiles(t)
	for _, name := range []string{"garm_operator.yaml", "garm_operator_embedded.yaml"} {
		deployment := normal(t, files[name])["Deployment garm-operator-system/garm-operator-controller-manager"].(*appsv1.Deployment)
		pod := deployment.Spec.Template.Spec
		container := pod.Containers[0]
		security := container.SecurityContext
		if !*pod.SecurityContext.RunAsNonRoot || pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s: the Pod's security context is %+v", name, pod.SecurityContext)
		}
		if *security.AllowPrivilegeEscalation || !*security.ReadOnlyRootFilesystem || !slices.Equal(security.Capabilities.Drop, []corev1.Capability{"ALL"}) {
			t.Errorf("%s: the container's security context is %+v", name, security)
		}
		if len(container.Command) != 1 || container.Command[0] != "/manager" {
			t.Errorf("%s: the command is %q", name, container.Command)
		}
		if container.LivenessProbe == nil || container.ReadinessProbe == nil || !slices.Contains(container.Args, "--operator-leader-election") {
			t.Errorf("%s: no probes, or no leader election", name)
		}
	}
}

// One way to have a server is applied over the other, in both directions: nothing of the one keeps the other from being applied.
func TestOneServerReplacesTheOther(t *testing.T) {
	t.Parallel()
	i := setup(t, stack.Options{})
	own := kustomize(t, manifests.Overlay{Resources: []string{"default"}})
	embedded := kustomize(t, manifests.Overlay{Resources: []string{"embedded"}})
	i.install(own, i.variables(namespace))
	i.install(embedded, nil)
	i.install(own, i.variables(namespace))
	if config := i.config(); config.EmbeddedServer.Enabled || config.GARM.Server != i.Proxy.URL() {
		t.Errorf("the server is %q, the embedded one %+v", config.GARM.Server, config.EmbeddedServer)
	}
}

// Each Service leads to a port that the Pods have, and the embedded server has one replica, which ends before the next begins, with
// its data on a volume of its own.
func TestServicesLeadToThePods(t *testing.T) {
	t.Parallel()
	files := releaseFiles(t)
	for name, want := range map[string][]string{
		"garm_operator.yaml":          {"garm-operator-webhook-service 443 9443"},
		"garm_operator_embedded.yaml": {"garm-operator-garm-server 9997 9997", "garm-operator-webhook-service 443 9443"},
	} {
		objects := normal(t, files[name])
		deployment := objects["Deployment garm-operator-system/garm-operator-controller-manager"].(*appsv1.Deployment)
		container := deployment.Spec.Template.Spec.Containers[0]
		var services []string
		for _, o := range objects {
			service, ok := o.(*corev1.Service)
			if !ok {
				continue
			}
			if !labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(deployment.Spec.Template.Labels)) {
				t.Errorf("%s: the Service %s selects %v, the Pods have %v", name, service.Name, service.Spec.Selector, deployment.Spec.Template.Labels)
			}
			for _, port := range service.Spec.Ports {
				for _, at := range container.Ports {
					if port.TargetPort.StrVal == at.Name || port.TargetPort.IntVal == at.ContainerPort {
						services = append(services, fmt.Sprint(service.Name, " ", port.Port, " ", at.ContainerPort))
					}
				}
			}
		}
		slices.Sort(services)
		if diff := cmp.Diff(want, services); diff != "" {
			t.Errorf("the Services of %s and where they lead (-want +got):\n%s", name, diff)
		}
	}
	objects := normal(t, files["garm_operator_embedded.yaml"])
	deployment := objects["Deployment garm-operator-system/garm-operator-controller-manager"].(*appsv1.Deployment)
	pod := deployment.Spec.Template.Spec
	if *deployment.Spec.Replicas != 1 || deployment.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		t.Errorf("%d replicas, replaced by %s", *deployment.Spec.Replicas, deployment.Spec.Strategy.Type)
	}
	claim, ok := objects["PersistentVolumeClaim garm-operator-system/garm-operator-garm-server-data"].(*corev1.PersistentVolumeClaim)
	if !ok || !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim.Name &&
			slices.ContainsFunc(pod.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool {
				return m.Name == v.Name && m.MountPath == "/var/lib/garm-operator" && !m.ReadOnly
			})
	}) {
		t.Errorf("the data directory lies on none of %+v", pod.Volumes)
	}
}
