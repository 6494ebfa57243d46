package stack

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// Names of the resources that Base returns.
const (
	TokenSecret   = "github-token"
	WebhookSecret = "webhook-secret"
	SecretKey     = "value"
	EndpointName  = "github"
	Credential    = "build-bot"
	Org           = "octo-org"
	ImageName     = "ubuntu"
	ServerConfig  = "garm"
)

func (s *Stack) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.options.Namespace, Name: name}
}

// Base returns what a pool needs: secrets, server configuration, endpoint, credential, organization and image.
func (s *Stack) Base() []client.Object {
	return []client.Object{
		s.Secret(TokenSecret, "ghp_stack"),
		s.Secret(WebhookSecret, "correct-horse-battery"),
		&v1beta1.GarmServerConfig{ObjectMeta: s.meta(ServerConfig), Spec: v1beta1.GarmServerConfigSpec{
			MetadataURL: v1beta1.URL(s.ServerURL() + "/api/v1/metadata"),
			CallbackURL: v1beta1.URL(s.ServerURL() + "/api/v1/callbacks"),
			WebhookURL:  v1beta1.URL(s.ServerURL() + "/webhooks"),
		}},
		s.Endpoint(EndpointName),
		s.Credential(Credential, EndpointName, TokenSecret),
		s.Organization(Org),
		s.Image(ImageName, "ubuntu-24.04"),
	}
}

// Secret returns a Secret with one value.
func (s *Stack) Secret(name, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: s.meta(name), StringData: map[string]string{SecretKey: value}}
}

// Endpoint returns a GitHubEndpoint that leads to the simulator.
func (s *Stack) Endpoint(name string) *v1beta1.GitHubEndpoint {
	url := v1beta1.URL(s.GitHub.URL())
	return &v1beta1.GitHubEndpoint{ObjectMeta: s.meta(name), Spec: v1beta1.GitHubEndpointSpec{
		Description: "the simulator", BaseURL: url, APIBaseURL: url + "/api/v3", UploadBaseURL: url + "/api/uploads",
	}}
}

// Credential returns a GitHubCredential with a token.
func (s *Stack) Credential(name, endpoint, secret string) *v1beta1.GitHubCredential {
	return &v1beta1.GitHubCredential{ObjectMeta: s.meta(name), Spec: v1beta1.GitHubCredentialSpec{
		Description: "a token", AuthType: v1beta1.AuthTypePAT, EndpointRef: ref("GitHubEndpoint", endpoint),
		SecretRef: &v1beta1.SecretRef{Name: secret, Key: SecretKey},
	}}
}

// Organization returns an Organization that uses Credential.
func (s *Stack) Organization(name string) *v1beta1.Organization {
	return &v1beta1.Organization{ObjectMeta: s.meta(name), Spec: v1beta1.OrganizationSpec{
		CredentialsRef: ref("GitHubCredential", Credential), WebhookSecretRef: v1beta1.SecretRef{Name: WebhookSecret, Key: SecretKey},
	}}
}

// Image returns an Image.
func (s *Stack) Image(name, tag string) *v1beta1.Image {
	return &v1beta1.Image{ObjectMeta: s.meta(name), Spec: v1beta1.ImageSpec{Tag: tag}}
}

// Pool returns a Pool of the organization that makes no runners by itself.
func (s *Stack) Pool(name string) *v1beta1.Pool {
	return &v1beta1.Pool{ObjectMeta: s.meta(name), Spec: v1beta1.PoolSpec{
		GitHubScopeRef: ref("Organization", Org), ProviderName: "local", ImageName: ImageName, Flavor: "small",
		OSType: v1beta1.OSTypeLinux, OSArch: v1beta1.OSArchAMD64, Tags: []string{"linux", name}, MaxRunners: 4,
		RunnerBootstrapTimeout: 20, Enabled: true,
	}}
}

// Pools returns n Pools that differ in one tag.
func (s *Stack) Pools(n int) []client.Object {
	pools := make([]client.Object, n)
	for i := range pools {
		pools[i] = s.Pool(fmt.Sprintf("pool-%03d", i))
	}
	return pools
}

// EqualPools returns n Pools that are equal but for their names, so that nothing but care tells their remote pools apart.
func (s *Stack) EqualPools(n int) []client.Object {
	pools := make([]client.Object, n)
	for i := range pools {
		pool := s.Pool(fmt.Sprintf("equal-%03d", i))
		pool.Spec.Tags = []string{"linux"}
		pools[i] = pool
	}
	return pools
}

func ref(kind, name string) v1beta1.TypedLocalObjectReference {
	group := v1beta1.GroupVersion.Group
	return v1beta1.TypedLocalObjectReference{APIGroup: &group, Kind: kind, Name: name}
}
