package v1alpha1_test

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// draw fills what value points to, field by field, so that fields which are added later take part. The metadata of objects
// is drawn by drawMeta.
func draw(t *rapid.T, value reflect.Value) {
	switch value.Type() {
	case reflect.TypeFor[metav1.TypeMeta](), reflect.TypeFor[metav1.ObjectMeta]():
		return
	case reflect.TypeFor[metav1.Time]():
		value.Set(reflect.ValueOf(metav1.NewTime(time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "time"), 0))))
		return
	}
	switch value.Kind() {
	case reflect.String:
		value.SetString(drawString(t))
	case reflect.Bool:
		value.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int64, reflect.Int, reflect.Int32:
		value.SetInt(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64()).Draw(t, "int"))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "present") {
			value.Set(reflect.New(value.Type().Elem()))
			draw(t, value.Elem())
		}
	case reflect.Slice:
		if n := rapid.IntRange(0, 3).Draw(t, "length"); n > 0 {
			value.Set(reflect.MakeSlice(value.Type(), n, n))
		}
		for i := range value.Len() {
			draw(t, value.Index(i))
		}
	case reflect.Map:
		value.Set(reflect.ValueOf(drawLabels(t)))
	case reflect.Struct:
		for i := range value.NumField() {
			draw(t, value.Field(i))
		}
	default:
		t.Fatalf("teach this generator to draw a %s", value.Type())
	}
}

// drawString draws what is likely to be mistaken for something else beside any text.
func drawString(t *rapid.T) string {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"", "GitHubCredential", "GitHubCredentials", "garm-operator.mercedes-benz.com", "null", "{}", "pack"}),
		rapid.String(),
	).Draw(t, "string")
}

func drawLabels(t *rapid.T) map[string]string {
	return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "garm-operator.mercedes-benz.com/paused"}), rapid.String(), 0, 2).Draw(t, "labels")
}

func drawMeta(t *rapid.T) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: "name", Namespace: "namespace", UID: types.UID(rapid.SampledFrom([]string{"", "u1", "u2"}).Draw(t, "uid")),
		ResourceVersion: "7", Generation: rapid.Int64Range(0, 9).Draw(t, "generation"), Labels: drawLabels(t), Annotations: drawLabels(t),
		Finalizers: rapid.SliceOfN(rapid.SampledFrom([]string{"garm-operator.mercedes-benz.com/pool"}), 0, 1).Draw(t, "finalizers"),
	}
}
