package v1beta1

// WebhookSpec says whether GitHub tells the GARM server of jobs by a webhook that the GARM server looks after.
//
// +kubebuilder:validation:XValidation:rule="self.install || !has(self.insecureSSL) || !self.insecureSSL",fieldPath=".insecureSSL",message="insecureSSL has a meaning only together with install: true; remove it"
type WebhookSpec struct {
	// Whether the webhook is to be there: true installs it, false removes it. The GARM server installs it with the
	// credential of credentialsRef, which needs the scope admin:org_hook for an organization, admin:repo_hook for a
	// repository (of a fine-grained token or an App: the permission "Webhooks", read and write). The GARM server has to
	// have enable_webhook_management on, and a webhook URL that GitHub reaches, which a GarmServerConfig sets.
	// It is installed anew when the secret, the webhook URL, this field or the GARM server's database changes. What
	// somebody changes or removes at GitHub is found and mended within half a day.
	Install bool `json:"install"`

	// Let GitHub send webhooks although it cannot verify the certificate of the GARM server. Do not use it in production:
	// whoever stands between can read what GitHub sends.
	// +optional
	InsecureSSL bool `json:"insecureSSL,omitempty"`
}
