package v1beta1

// Finalizers, one per kind that stands for something at the GARM server. Image and GarmServerConfig carry none.
const (
	FinalizerEnterprise       = Group + "/enterprise"
	FinalizerOrganization     = Group + "/organization"
	FinalizerRepository       = Group + "/repository"
	FinalizerPool             = Group + "/pool"
	FinalizerRunner           = Group + "/runner"
	FinalizerGitHubEndpoint   = Group + "/endpoint"
	FinalizerGitHubCredential = Group + "/credentials"
)
