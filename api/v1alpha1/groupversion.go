package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// GroupVersion is the group and version of all kinds of this package.
var GroupVersion = schema.GroupVersion{Group: v1beta1.Group, Version: "v1alpha1"}

// SchemeBuilder collects what AddToScheme registers.
var SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme registers all kinds of this package, and their lists, with a scheme.
var AddToScheme = SchemeBuilder.AddToScheme

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&Enterprise{}, &EnterpriseList{},
		&Image{}, &ImageList{},
		&Organization{}, &OrganizationList{},
		&Pool{}, &PoolList{},
		&Repository{}, &RepositoryList{},
		&Runner{}, &RunnerList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
