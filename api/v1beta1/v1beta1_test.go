package v1beta1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

func TestSchemeKnowsEveryKind(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{
		v1beta1.KindEnterprise, v1beta1.KindGarmServerConfig, v1beta1.KindGitHubCredential, v1beta1.KindGitHubEndpoint,
		v1beta1.KindImage, v1beta1.KindOrganization, v1beta1.KindPool, v1beta1.KindRepository, v1beta1.KindRunner,
	} {
		t.Run(kind, func(t *testing.T) {
			object, err := scheme.New(v1beta1.GroupVersion.WithKind(kind))
			if err != nil {
				t.Fatal(err)
			}
			if !scheme.Recognizes(v1beta1.GroupVersion.WithKind(kind + "List")) {
				t.Error("its list is not known")
			}
			conditioned, ok := object.(v1beta1.Conditioned)
			if kind == v1beta1.KindImage {
				if ok {
					t.Error("an Image has no conditions")
				}
				return
			}
			if !ok {
				t.Fatal("its conditions cannot be reached")
			}
			want := []metav1.Condition{{Type: v1beta1.ConditionReady}}
			conditioned.SetConditions(want)
			conditioned.SetObservedGeneration(7)
			copied, ok := object.DeepCopyObject().(v1beta1.Conditioned)
			if !ok {
				t.Fatal("a copy is of another type")
			}
			if diff := cmp.Diff(want, copied.GetConditions()); diff != "" || copied.GetObservedGeneration() != 7 {
				t.Errorf("generation %d, conditions %s", copied.GetObservedGeneration(), diff)
			}
		})
	}
}

func TestSecretRefIsSet(t *testing.T) {
	for _, tc := range []struct {
		name string
		ref  *v1beta1.SecretRef
		want bool
	}{
		{"absent", nil, false},
		{"stored with empty strings", &v1beta1.SecretRef{}, false},
		{"name and key", &v1beta1.SecretRef{Name: "a", Key: "b"}, true},
		{"half of it, so that a reader reports the other half", &v1beta1.SecretRef{Name: "a"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.ref.IsSet(); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}

func TestOSArchCanonical(t *testing.T) {
	for arch, want := range map[v1beta1.OSArch]v1beta1.OSArch{
		"amd64": "amd64", "x86_64": "amd64", "x64": "amd64", "arm64": "arm64", "aarch64": "arm64", "arm": "arm", "armv7l": "arm",
		"i386": "i386",
	} {
		if got := arch.Canonical(); got != want {
			t.Errorf("%s becomes %s, want %s", arch, got, want)
		}
	}
}

func TestGitHubName(t *testing.T) {
	repository := &v1beta1.Repository{ObjectMeta: metav1.ObjectMeta{Name: "my-repo"}}
	if got := repository.GitHubName(); got != "my-repo" {
		t.Errorf("OP-13: without spec.name the name is %q", got)
	}
	repository.Spec.Name = "My_Repo"
	if got := repository.GitHubName(); got != "My_Repo" {
		t.Errorf("OP-13: with spec.name the name is %q", got)
	}
}
