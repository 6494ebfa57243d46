package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Conditioned is a resource with conditions and an observed generation: every kind but Image.
//
// +kubebuilder:object:generate=false
type Conditioned interface {
	metav1.Object
	// GetConditions returns the conditions of the status; the slice is the resource's own.
	GetConditions() []metav1.Condition
	// SetConditions replaces the conditions of the status.
	SetConditions(conditions []metav1.Condition)
	// GetObservedGeneration returns the generation that the status speaks of.
	GetObservedGeneration() int64
	// SetObservedGeneration replaces the generation that the status speaks of.
	SetObservedGeneration(generation int64)
}

// GetConditions returns the conditions of the status.
func (o *Enterprise) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (o *Enterprise) SetConditions(conditions []metav1.Condition) { o.Status.Conditions = conditions }

// GetObservedGeneration returns the generation that the status speaks of.
func (o *Enterprise) GetObservedGeneration() int64 { return o.Status.ObservedGeneration }

// SetObservedGeneration replaces the generation that the status speaks of.
func (o *Enterprise) SetObservedGeneration(generation int64) {
	o.Status.ObservedGeneration = generation
}

// GetConditions returns the conditions of the status.
func (o *Organization) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (o *Organization) SetConditions(conditions []metav1.Condition) { o.Status.Conditions = conditions }

// GetObservedGeneration returns the generation that the status speaks of.
func (o *Organization) GetObservedGeneration() int64 { return o.Status.ObservedGeneration }

// SetObservedGeneration replaces the generation that the status speaks of.
func (o *Organization) SetObservedGeneration(generation int64) {
	o.Status.ObservedGeneration = generation
}

// GetConditions returns the conditions of the status.
func (o *Repository) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (o *Repository) SetConditions(conditions []metav1.Condition) { o.Status.Conditions = conditions }

// GetObservedGeneration returns the generation that the status speaks of.
func (o *Repository) GetObservedGeneration() int64 { return o.Status.ObservedGeneration }

// SetObservedGeneration replaces the generation that the status speaks of.
func (o *Repository) SetObservedGeneration(generation int64) {
	o.Status.ObservedGeneration = generation
}

// GetConditions returns the conditions of the status.
func (o *Pool) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (o *Pool) SetConditions(conditions []metav1.Condition) { o.Status.Conditions = conditions }

// GetObservedGeneration returns the generation that the status speaks of.
func (o *Pool) GetObservedGeneration() int64 { return o.Status.ObservedGeneration }

// SetObservedGeneration replaces the generation that the status speaks of.
func (o *Pool) SetObservedGeneration(generation int64) { o.Status.ObservedGeneration = generation }

// GetConditions returns the conditions of the status.
func (o *Runner) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (o *Runner) SetConditions(conditions []metav1.Condition) { o.Status.Conditions = conditions }

// GetObservedGeneration returns the generation that the status speaks of.
func (o *Runner) GetObservedGeneration() int64 { return o.Status.ObservedGeneration }

// SetObservedGeneration replaces the generation that the status speaks of.
func (o *Runner) SetObservedGeneration(generation int64) { o.Status.ObservedGeneration = generation }

// GetConditions returns the conditions of the status.
func (o *GarmServerConfig) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (o *GarmServerConfig) SetConditions(conditions []metav1.Condition) {
	o.Status.Conditions = conditions
}

// GetObservedGeneration returns the generation that the status speaks of.
func (o *GarmServerConfig) GetObservedGeneration() int64 { return o.Status.ObservedGeneration }

// SetObservedGeneration replaces the generation that the status speaks of.
func (o *GarmServerConfig) SetObservedGeneration(generation int64) {
	o.Status.ObservedGeneration = generation
}

// GetConditions returns the conditions of the status.
func (o *GitHubEndpoint) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (o *GitHubEndpoint) SetConditions(conditions []metav1.Condition) {
	o.Status.Conditions = conditions
}

// GetObservedGeneration returns the generation that the status speaks of.
func (o *GitHubEndpoint) GetObservedGeneration() int64 { return o.Status.ObservedGeneration }

// SetObservedGeneration replaces the generation that the status speaks of.
func (o *GitHubEndpoint) SetObservedGeneration(generation int64) {
	o.Status.ObservedGeneration = generation
}

// GetConditions returns the conditions of the status.
func (o *GitHubCredential) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (o *GitHubCredential) SetConditions(conditions []metav1.Condition) {
	o.Status.Conditions = conditions
}

// GetObservedGeneration returns the generation that the status speaks of.
func (o *GitHubCredential) GetObservedGeneration() int64 { return o.Status.ObservedGeneration }

// SetObservedGeneration replaces the generation that the status speaks of.
func (o *GitHubCredential) SetObservedGeneration(generation int64) {
	o.Status.ObservedGeneration = generation
}
