package v1alpha1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// AnnotationConversionData holds, on resources as v1alpha1 shows them, what only v1beta1 has fields for. Conversion writes
// and reads it; users leave it alone. What v1alpha1 has a field for is never taken from it, and content that makes no sense
// is ignored. In v1beta1 it does not exist.
const AnnotationConversionData = v1beta1.Group + "/conversion-data"

// conversionData is the content of the annotation: two JSON merge patches (RFC 7386) that lead from what v1alpha1 says to
// the whole. So a field that v1beta1 gets is kept without a change here.
type conversionData struct {
	// UID is the resource's. A status that was copied with a manifest to another resource does not count there.
	UID    types.UID      `json:"uid,omitempty"`
	Spec   map[string]any `json:"spec,omitempty"`
	Status map[string]any `json:"status,omitempty"`
}

// part is a spec or status, as a struct that is written as a JSON object.
type part any

// keep copies the metadata of a hub object to its v1alpha1 form, with an annotation for what that form cannot say. wholeSpec
// and wholeStatus are the hub's, saidSpec and saidStatus what the v1alpha1 form alone would become.
func keep(hub metav1.ObjectMeta, wholeSpec, saidSpec, wholeStatus, saidStatus part) (metav1.ObjectMeta, error) {
	meta := *hub.DeepCopy()
	dropData(&meta)
	spec, err := patchBetween(saidSpec, wholeSpec)
	if err != nil {
		return meta, fmt.Errorf("keep the spec: %w", err)
	}
	status, err := patchBetween(saidStatus, wholeStatus)
	if err != nil {
		return meta, fmt.Errorf("keep the status: %w", err)
	}
	if len(spec) == 0 && len(status) == 0 {
		return meta, nil
	}
	data := conversionData{Spec: spec, Status: status}
	if len(status) > 0 {
		data.UID = hub.UID
	}
	content, err := json.Marshal(data)
	if err != nil {
		return meta, fmt.Errorf("write the annotation %s: %w", AnnotationConversionData, err)
	}
	if meta.Annotations == nil {
		meta.Annotations = map[string]string{}
	}
	meta.Annotations[AnnotationConversionData] = string(content)
	return meta, nil
}

// restore returns the metadata of the hub object of a v1alpha1 form, and adds to spec and status, pointers to what that
// form says, what its annotation has kept. What cannot be read is left out: an annotation must not make an object
// unreadable.
func restore(from metav1.ObjectMeta, spec, status part) metav1.ObjectMeta {
	meta := *from.DeepCopy()
	content := meta.Annotations[AnnotationConversionData]
	dropData(&meta)
	var data conversionData
	if content == "" || decode([]byte(content), &data) != nil {
		return meta
	}
	apply(spec, data.Spec)
	if data.UID == from.UID {
		apply(status, data.Status)
	}
	return meta
}

func dropData(meta *metav1.ObjectMeta) {
	delete(meta.Annotations, AnnotationConversionData)
	if len(meta.Annotations) == 0 {
		meta.Annotations = nil
	}
}

// apply applies a merge patch to what target points to. Where the result does not fit, target stays as it is.
func apply(target part, patch map[string]any) {
	if len(patch) == 0 {
		return
	}
	fields, err := fieldsOf(target)
	if err != nil {
		return
	}
	content, err := json.Marshal(merge(fields, patch))
	if err != nil {
		return
	}
	result := reflect.New(reflect.TypeOf(target).Elem())
	if json.Unmarshal(content, result.Interface()) != nil {
		return
	}
	reflect.ValueOf(target).Elem().Set(result.Elem())
}

func merge(fields, patch map[string]any) map[string]any {
	result := maps.Clone(fields)
	if result == nil {
		result = map[string]any{}
	}
	for name, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(result, name)
		case map[string]any:
			inner, _ := result[name].(map[string]any)
			result[name] = merge(inner, value)
		default:
			result[name] = value
		}
	}
	return result
}

// patchBetween returns the merge patch that leads from one part to another, empty when they are equal.
func patchBetween(from, to part) (map[string]any, error) {
	before, err := fieldsOf(from)
	if err != nil {
		return nil, err
	}
	after, err := fieldsOf(to)
	if err != nil {
		return nil, err
	}
	return difference(before, after), nil
}

func difference(before, after map[string]any) map[string]any {
	patch := map[string]any{}
	for name, value := range after {
		old, had := before[name]
		inner, isObject := value.(map[string]any)
		oldInner, wasObject := old.(map[string]any)
		if isObject && wasObject {
			if d := difference(oldInner, inner); len(d) > 0 {
				patch[name] = d
			}
		} else if !had || !reflect.DeepEqual(old, value) {
			patch[name] = value
		}
	}
	for name := range before {
		if _, has := after[name]; !has {
			patch[name] = nil
		}
	}
	return patch
}

func fieldsOf(of part) (map[string]any, error) {
	content, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	return fields, decode(content, &fields)
}

// decode keeps numbers as they are written: an int64 does not fit into a float64.
func decode(content []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	return decoder.Decode(into)
}
