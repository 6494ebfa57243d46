package v1beta1

// DeletionPolicy says what becomes of the object at the GARM server when the resource is deleted.
//
// +kubebuilder:validation:Enum=Delete;Orphan
type DeletionPolicy string

// The deletion policies. An empty one is Delete.
const (
	// DeletionPolicyDelete deletes the object at the GARM server, too.
	DeletionPolicyDelete DeletionPolicy = "Delete"
	// DeletionPolicyOrphan leaves the object at the GARM server as it is.
	DeletionPolicyOrphan DeletionPolicy = "Orphan"
)

// Disposable is a resource that stands for an object at the GARM server which its deletion may leave there.
//
// +kubebuilder:object:generate=false
type Disposable interface {
	// GetDeletionPolicy returns what becomes of the object at the GARM server; never empty.
	GetDeletionPolicy() DeletionPolicy
}

func (p DeletionPolicy) orDelete() DeletionPolicy {
	if p == "" {
		return DeletionPolicyDelete
	}
	return p
}

// GetDeletionPolicy returns what becomes of the enterprise at the GARM server.
func (o *Enterprise) GetDeletionPolicy() DeletionPolicy { return o.Spec.DeletionPolicy.orDelete() }

// GetDeletionPolicy returns what becomes of the organization at the GARM server.
func (o *Organization) GetDeletionPolicy() DeletionPolicy { return o.Spec.DeletionPolicy.orDelete() }

// GetDeletionPolicy returns what becomes of the repository at the GARM server.
func (o *Repository) GetDeletionPolicy() DeletionPolicy { return o.Spec.DeletionPolicy.orDelete() }

// GetDeletionPolicy returns what becomes of the pool at the GARM server.
func (o *Pool) GetDeletionPolicy() DeletionPolicy { return o.Spec.DeletionPolicy.orDelete() }

// GetDeletionPolicy returns what becomes of the endpoint at the GARM server.
func (o *GitHubEndpoint) GetDeletionPolicy() DeletionPolicy { return o.Spec.DeletionPolicy.orDelete() }

// GetDeletionPolicy returns what becomes of the credentials at the GARM server.
func (o *GitHubCredential) GetDeletionPolicy() DeletionPolicy {
	return o.Spec.DeletionPolicy.orDelete()
}
