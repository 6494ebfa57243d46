package v1beta1

// URL is an absolute http or https URL with a host. The empty string means not set.
//
// +kubebuilder:validation:MaxLength=2048
// +kubebuilder:validation:XValidation:rule="size(self) == 0 || (isURL(self) && url(self).getScheme() in ['http', 'https'] && size(url(self).getHostname()) > 0)",message="must be a URL with scheme http or https and a host, such as https://example.com/path"
type URL string
