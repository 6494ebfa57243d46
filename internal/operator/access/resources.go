package access

import "github.com/garm-operator/garm-operator/api/v1beta1"

// Resource is a kind of the group as rules name it.
type Resource struct {
	// Kind is the kind, Singular and Plural are the names in URLs and commands.
	Kind, Singular, Plural string
	// Status and Scale say which subresources there are.
	Status, Scale bool
	// Finalizer says that the operator puts a finalizer on the resource.
	Finalizer bool
	// Old says that there is an old version, which resources may be stored in.
	Old bool
	// Made says that the operator, not a user, creates and deletes the resource.
	Made bool
}

// Resources returns all kinds of the group, in alphabetical order.
func Resources() []Resource {
	return []Resource{
		{Kind: v1beta1.KindEnterprise, Singular: "enterprise", Plural: "enterprises", Old: true, Status: true, Finalizer: true},
		{Kind: v1beta1.KindGarmServerConfig, Singular: "garmserverconfig", Plural: "garmserverconfigs", Status: true},
		{Kind: v1beta1.KindGitHubCredential, Singular: "githubcredential", Plural: "githubcredentials", Status: true, Finalizer: true},
		{Kind: v1beta1.KindGitHubEndpoint, Singular: "githubendpoint", Plural: "githubendpoints", Status: true, Finalizer: true},
		{Kind: v1beta1.KindImage, Singular: "image", Plural: "images", Old: true},
		{Kind: v1beta1.KindOrganization, Singular: "organization", Plural: "organizations", Old: true, Status: true, Finalizer: true},
		{Kind: v1beta1.KindPool, Singular: "pool", Plural: "pools", Old: true, Status: true, Scale: true, Finalizer: true},
		{Kind: v1beta1.KindRepository, Singular: "repository", Plural: "repositories", Old: true, Status: true, Finalizer: true},
		{Kind: v1beta1.KindRunner, Singular: "runner", Plural: "runners", Old: true, Status: true, Finalizer: true, Made: true},
	}
}

// plurals returns the plural names of the resources that pass, with a suffix.
func plurals(suffix string, pass func(Resource) bool) []string {
	var names []string
	for _, r := range Resources() {
		if pass(r) {
			names = append(names, r.Plural+suffix)
		}
	}
	return names
}
