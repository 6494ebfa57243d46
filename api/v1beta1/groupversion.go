package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of all kinds of this package, and the prefix of the annotations, labels and finalizers.
const Group = "garm-operator.mercedes-benz.com"

// GroupVersion is the group and version of all kinds of this package.
var GroupVersion = schema.GroupVersion{Group: Group, Version: "v1beta1"}

// SchemeBuilder collects what AddToScheme registers.
var SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme registers all kinds of this package, and their lists, with a scheme.
var AddToScheme = SchemeBuilder.AddToScheme

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&Enterprise{}, &EnterpriseList{},
		&GarmServerConfig{}, &GarmServerConfigList{},
		&GitHubCredential{}, &GitHubCredentialList{},
		&GitHubEndpoint{}, &GitHubEndpointList{},
		&Image{}, &ImageList{},
		&Organization{}, &OrganizationList{},
		&Pool{}, &PoolList{},
		&Repository{}, &RepositoryList{},
		&Runner{}, &RunnerList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
