package v1beta1

// Condition types of the kstatus convention, on every kind with a status.
const (
	// ConditionReady is True when the resource and what it stands for at the GARM server agree.
	ConditionReady = "Ready"
	// ConditionReconciling is True while the operator is working towards the present spec or waits for something that
	// is expected to come. It is absent otherwise.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when nothing more happens until a user changes something. It is absent otherwise.
	ConditionStalled = "Stalled"
	// ConditionPaused is True while the pause annotation is present. It is absent otherwise.
	ConditionPaused = "Paused"
)

// Condition types that name one thing a resource depends on.
const (
	// ConditionPoolManager tells on an Enterprise, Organization or Repository whether its pool manager runs at the server.
	ConditionPoolManager = "PoolManager"
	// ConditionWebhook tells on an Organization or Repository with spec.webhook whether the webhook at GitHub is as that
	// says: installed, or removed.
	ConditionWebhook = "Webhook"
	// ConditionWebhookSecretReference tells whether the Secret that the resource names could be read: the webhook secret
	// of an entity, the token or private key of a GitHubCredential, the CA bundle of a GitHubEndpoint.
	ConditionWebhookSecretReference = "WebhookSecretReference"
	// ConditionGithubCredentialsReference tells on an entity whether its GitHubCredential is there and usable.
	ConditionGithubCredentialsReference = "GithubCredentialsReference"
	// ConditionGithubEndpointReference tells on a GitHubCredential whether its GitHubEndpoint is there and usable.
	ConditionGithubEndpointReference = "GithubEndpointReference"
	// ConditionImageReference tells on a Pool whether its Image is there.
	ConditionImageReference = "ImageReference"
	// ConditionScopeReference tells on a Pool whether its Enterprise, Organization or Repository is there and has an id.
	ConditionScopeReference = "ScopeReference"
)

// Condition types that older releases wrote. They are dropped from a status when it is next written.
const (
	ConditionObsoleteSecretReference      = "SecretReference"
	ConditionObsoleteCredentialsReference = "CredentialsReference"
	ConditionObsoleteEndpointReference    = "EndpointReference"
)
