package v1alpha1

// SecretRef names one key of a Secret in the namespace of the resource.
type SecretRef struct {
	// Name of the Secret, in the namespace of this resource. Its values are watched: a rotated one is sent to the GARM server.
	Name string `json:"name"`

	// Key within the data of the Secret, such as token. What stands there must not be empty.
	Key string `json:"key"`
}

// TypedLocalObjectReference names a resource in the same namespace. It has the shape of the core type of that name.
//
// +structType=atomic
type TypedLocalObjectReference struct {
	// API group of the resource referred to. It is not compared with anything and may be left out.
	// +optional
	APIGroup *string `json:"apiGroup,omitempty"`

	// Kind of the resource referred to, such as GitHubCredential. Only a Pool looks at it: the scope of one is an
	// Enterprise, an Organization or a Repository.
	Kind string `json:"kind"`

	// Name of the resource referred to.
	Name string `json:"name"`
}
