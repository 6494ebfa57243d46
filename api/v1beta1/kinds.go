package v1beta1

// The kinds of this group, as they stand in manifests and in references.
const (
	KindEnterprise       = "Enterprise"
	KindGarmServerConfig = "GarmServerConfig"
	KindGitHubCredential = "GitHubCredential"
	KindGitHubEndpoint   = "GitHubEndpoint"
	KindImage            = "Image"
	KindOrganization     = "Organization"
	KindPool             = "Pool"
	KindRepository       = "Repository"
	KindRunner           = "Runner"
)
