package admission_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/admission"
	"github.com/garm-operator/garm-operator/internal/operator/poolspec"
)

// server holds the webhooks over a cache and an API server.
type server struct {
	*http.ServeMux
	t *testing.T
}

func (s *server) Register(path string, hook http.Handler) { s.Handle(path, hook) }

func serve(t *testing.T, cached, live client.Reader, namespaces ...string) *server {
	s := &server{ServeMux: http.NewServeMux(), t: t}
	admission.Register(s, cached, live, namespaces)
	return s
}

// ask posts what the API server would and returns the answer.
func (s *server) ask(version, kind string, operation admissionv1.Operation, object, old any) *admissionv1.AdmissionResponse {
	s.t.Helper()
	request := &admissionv1.AdmissionRequest{UID: types.UID(kind + string(operation)), Namespace: "ns", Name: "image", Operation: operation}
	for into, value := range map[*runtime.RawExtension]any{&request.Object: object, &request.OldObject: old} {
		if value != nil {
			into.Raw = mustMarshal(s.t, value)
		}
	}
	review := &admissionv1.AdmissionReview{Request: request}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	path := "/validate-garm-operator-mercedes-benz-com-" + version + "-" + kind
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, path, bytes.NewReader(mustMarshal(s.t, review)))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	answer := &admissionv1.AdmissionReview{}
	if err := json.Unmarshal(w.Body.Bytes(), answer); err != nil || answer.Response == nil {
		s.t.Fatalf("%s: %d %q: %v", path, w.Code, w.Body, err)
	}
	return answer.Response
}

func mustMarshal(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func newPool(name, extra string) *v1beta1.Pool {
	return &v1beta1.Pool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: v1beta1.PoolSpec{
		ImageName: "image", Tags: []string{"linux"}, ExtraSpecs: extra,
	}}
}

// cluster returns a client of an API server with resources, with the indices that the cache has.
func cluster(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(v1beta1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&v1beta1.Pool{}, poolspec.Field, func(o client.Object) []string { return []string{poolspec.Key(o.(*v1beta1.Pool))} }).Build()
}

// The manifests of the known operator's v0.4.1 send v1alpha1 to paths of its own, and ask more than ours do.
func TestBothVersions(t *testing.T) {
	there := cluster(t, newPool("first", ""))
	for _, version := range []string{"v1beta1", "v1alpha1"} {
		s := serve(t, there, there)
		second := newPool("second", "")
		second.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("Pool"))
		second.APIVersion = v1beta1.Group + "/" + version
		bad := newPool("first", "{bad}")
		for _, c := range []struct {
			name, kind  string
			operation   admissionv1.Operation
			object, old any
			code        int32
			says        string
		}{
			{"an equal pool", "pool", admissionv1.Create, second, nil, 422, `Pool "first"`},
			{"bad extraSpecs", "pool", admissionv1.Create, bad, nil, 422, "spec.extraSpecs"},
			{"made bad", "pool", admissionv1.Update, bad, newPool("first", ""), 422, "spec.extraSpecs"},
			{"always bad", "pool", admissionv1.Update, bad, bad, 0, ""},
			{"deleted pool", "pool", admissionv1.Delete, nil, bad, 0, ""},
			{"used image", "image", admissionv1.Delete, nil, &v1beta1.Image{}, 400, `Pool "first"`},
			{"new image", "image", admissionv1.Create, &v1beta1.Image{}, nil, 0, ""},
			{"repository", "repository", admissionv1.Update, &v1beta1.Repository{}, &v1beta1.Repository{}, 0, ""},
		} {
			answer := s.ask(version, c.kind, c.operation, c.object, c.old)
			if answer.Allowed != (c.code == 0) {
				t.Errorf("%s: %s: allowed is %t: %+v", version, c.name, answer.Allowed, answer.Result)
			}
			if c.code != 0 && (answer.Result.Code != c.code || !strings.Contains(answer.Result.Message, c.says)) {
				t.Errorf("%s: %s: %+v", version, c.name, answer.Result)
			}
		}
	}
}

// An answer never repeats extraSpecs, which may hold what is better not shown.
func TestExtraSpecsAreNotRepeated(t *testing.T) {
	there := cluster(t)
	answer := serve(t, there, there).ask("v1beta1", "pool", admissionv1.Create, newPool("pool", `{"token": "hunter2",}`), nil)
	if answer.Allowed || strings.Contains(string(mustMarshal(t, answer)), "hunter2") {
		t.Errorf("%+v", answer)
	}
}

// broken is a reader that fails.
func broken(t *testing.T) client.Reader {
	t.Helper()
	return interceptor.NewClient(cluster(t), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("out of order")
		},
	})
}

// While the cache is not filled, the API server is asked; where nobody answers, what could not be checked is let through with a
// warning.
func TestLookUpsThatFail(t *testing.T) {
	there := cluster(t, newPool("first", ""))
	if answer := serve(t, broken(t), there).ask("v1beta1", "pool", admissionv1.Create, newPool("second", ""), nil); answer.Allowed {
		t.Error("the API server was not asked")
	}
	mute := serve(t, broken(t), broken(t))
	for kind, operation := range map[string]admissionv1.Operation{"pool": admissionv1.Create, "image": admissionv1.Delete} {
		answer := mute.ask("v1beta1", kind, operation, newPool("second", ""), nil)
		if !answer.Allowed || len(answer.Warnings) != 1 {
			t.Errorf("%s: %+v", kind, answer)
		}
	}
	if answer := mute.ask("v1beta1", "pool", admissionv1.Create, newPool("second", "{bad}"), nil); answer.Allowed {
		t.Error("bad extraSpecs were let through")
	}
}

// In a namespace that is another operator's, nothing but the resource itself is looked at.
func TestOtherNamespaces(t *testing.T) {
	s := serve(t, broken(t), broken(t), "elsewhere")
	for kind, operation := range map[string]admissionv1.Operation{"pool": admissionv1.Create, "image": admissionv1.Delete} {
		if answer := s.ask("v1beta1", kind, operation, newPool("second", ""), nil); !answer.Allowed || len(answer.Warnings) > 0 {
			t.Errorf("%s: %+v", kind, answer)
		}
	}
	if answer := s.ask("v1beta1", "pool", admissionv1.Create, newPool("second", "7"), nil); answer.Allowed {
		t.Error("bad extraSpecs were let through")
	}
}
