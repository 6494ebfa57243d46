// Package v1beta1 holds the custom resources that a user writes to describe GitHub Actions runner fleets.
//
// Fields, defaults and printer columns are those of the group as users know it. What a field may hold is written beside
// it as OpenAPI and CEL rules, so that it holds on every cluster, with or without admission webhooks; docs/validation.md
// lists what is refused and which loose values stay accepted. v1beta1 is the stored version and the hub of conversion.
//
// +kubebuilder:object:generate=true
// +groupName=garm-operator.mercedes-benz.com
package v1beta1
