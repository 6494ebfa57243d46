// Package v1alpha1 holds the first version of six of the custom resources, as users of early releases know it.
//
// It is served and deprecated, never stored, and does not change any more. Everything is converted to and from v1beta1,
// the hub, without loss: what v1alpha1 has no field for travels in the annotation AnnotationConversionData. Validation is
// as loose as it was, so that old objects stay readable and can be updated; only what would break a pool or an entity for
// good is refused.
//
// +kubebuilder:object:generate=true
// +groupName=garm-operator.mercedes-benz.com
package v1alpha1
