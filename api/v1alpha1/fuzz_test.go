package v1alpha1_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/garm-operator/garm-operator/api/v1alpha1"
	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// Whatever stands in the annotation, an object can be read and written, and what v1alpha1 says of it does not change.
func FuzzConversionData(f *testing.F) {
	for _, seed := range []string{
		"", "null", "7", "{", "{}", `{"spec":7}`, `{"spec":{"poolBalancerType":"pack"},"status":{"controllerId":"c"}}`,
		`{"spec":{"credentialsRef":{"name":"other","kind":"GitHubCredentials","apiGroup":null}}}`, `{"spec":{"credentialsRef":null,"owner":null}}`,
		`{"spec":{"webhookSecretRef":[]},"uid":"u","status":{"id":7}}`, `{"uid":"u","status":{"id":"other","conditions":[{"type":"Ready"}],"observedGeneration":1e99}}`,
		`{"spec":{"maxRunners":"many"},"status":{"agentId":9223372036854775808}}`, `{"spec":{"Owner":"other","CREDENTIALSREF":{}}}`,
	} {
		f.Add(seed)
	}
	ready := []metav1.Condition{{Type: "Ready", Status: "True", Reason: "ReconcileSuccess"}}
	f.Fuzz(func(t *testing.T, content string) {
		meta := metav1.ObjectMeta{Name: "a", UID: "u", Annotations: map[string]string{v1alpha1.AnnotationConversionData: content}}
		entity := v1alpha1.EntityStatus{ID: "id", Conditions: ready}
		secret := v1alpha1.SecretRef{Name: "s", Key: "k"}
		for kind, object := range map[string]spoke{
			v1beta1.KindEnterprise: &v1alpha1.Enterprise{
				ObjectMeta: meta, Spec: v1alpha1.EnterpriseSpec{CredentialsName: "c", WebhookSecretRef: secret}, Status: entity,
			},
			v1beta1.KindOrganization: &v1alpha1.Organization{ObjectMeta: meta},
			v1beta1.KindRepository: &v1alpha1.Repository{
				ObjectMeta: meta, Spec: v1alpha1.RepositorySpec{Owner: "o", CredentialsName: "c", WebhookSecretRef: secret}, Status: entity,
			},
			v1beta1.KindPool: &v1alpha1.Pool{
				ObjectMeta: meta, Spec: v1alpha1.PoolSpec{ProviderName: "p", Tags: []string{"linux"}, MaxRunners: 4}, Status: v1alpha1.PoolStatus{ID: "id"},
			},
			v1beta1.KindImage: &v1alpha1.Image{ObjectMeta: meta, Spec: v1alpha1.ImageSpec{Tag: "t"}},
			v1beta1.KindRunner: &v1alpha1.Runner{
				ObjectMeta: meta, Status: v1alpha1.RunnerStatus{ID: "id", AgentID: 1<<62 + 1, Addresses: []v1alpha1.RunnerAddress{{Address: "a"}}},
			},
		} {
			k := kinds[kind]
			whole := k.up(t, object)
			shown := k.down(t, whole)
			equal(t, kind, withoutData(object), withoutData(shown))
			equal(t, kind+" once more", whole, k.up(t, shown))
		}
	})
}
