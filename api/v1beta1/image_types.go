package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ImageSpec is the desired state of an Image.
type ImageSpec struct {
	// What the provider needs to find the image: an image name, a tag, an id. The operator passes it on as it stands, and
	// a change of it reaches every Pool that uses the Image.
	// +optional
	// +kubebuilder:validation:MinLength=1
	Tag string `json:"tag,omitempty"`
}

// ImageStatus is empty: an Image is only looked up by Pools.
type ImageStatus struct{}

// Image gives a name to the image that the runners of Pools start from.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=images,singular=image,categories=garm,scope=Namespaced
// +kubebuilder:printcolumn:name="Tag",type="string",JSONPath=".spec.tag"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="(has(self.spec) && has(self.spec.tag)) || (oldSelf.hasValue() && !(has(oldSelf.value().spec) && has(oldSelf.value().spec.tag)))",optionalOldSelf=true,message="spec.tag is required: what the provider needs to find the image"
type Image struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Desired state.
	// +optional
	Spec ImageSpec `json:"spec,omitzero"`

	// Always empty.
	// +optional
	Status ImageStatus `json:"status,omitzero"`
}

// ImageList is a list of Image resources.
//
// +kubebuilder:object:root=true
type ImageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Image `json:"items"`
}
