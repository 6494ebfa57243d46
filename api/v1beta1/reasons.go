package v1beta1

// Reasons of Ready, and of Reconciling and Stalled with it.
const (
	// ReasonReconcileSuccess: the spec is in force at the GARM server.
	ReasonReconcileSuccess = "ReconcileSuccess"
	// ReasonReconcileError: the last attempt failed in a way that no other reason names.
	ReasonReconcileError = "ReconcileError"
	// ReasonReconciling: a first or a changed spec is on its way.
	ReasonReconciling = "Reconciling"
	// ReasonDeleting: the resource is being deleted.
	ReasonDeleting = "Deleting"
	// ReasonDeletionFailed: the GARM server refused the deletion; it is tried again.
	ReasonDeletionFailed = "DeletionFailed"
	// ReasonGarmAPIError: the GARM server answered with an error.
	ReasonGarmAPIError = "GarmAPIError"
	// ReasonGarmUnavailable: the GARM server cannot be reached or does not let the operator in. Nothing is known, so
	// nothing is created or deleted.
	ReasonGarmUnavailable = "GarmUnavailable"
	// ReasonControllerURLsMissing: the GARM server does nothing before its metadata, callback and webhook URLs are set;
	// a GarmServerConfig sets them.
	ReasonControllerURLsMissing = "ControllerURLsMissing"
	// ReasonInvalidSpec: the GARM server cannot accept the spec; the message names the field and the fix.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonProviderNotFound: the GARM server has no provider of the name that the Pool gives.
	ReasonProviderNotFound = "ProviderNotFound"
	// ReasonNotOwner: an older resource stands for the same object at the GARM server and owns it.
	ReasonNotOwner = "NotOwner"
	// ReasonDuplicatePoolFound: an older Pool holds the same GARM pool id.
	ReasonDuplicatePoolFound = "DuplicatePoolFound"
	// ReasonAmbiguous: more than one object at the GARM server fits, and none is chosen by guessing.
	ReasonAmbiguous = "Ambiguous"
	// ReasonWaitingForRunners: runners are busy with jobs, or are still being removed; the message counts them.
	ReasonWaitingForRunners = "WaitingForRunners"
	// ReasonInUse: other objects at the GARM server or in the cluster still need this one.
	ReasonInUse = "InUse"
	// ReasonRateLimited: the server asked to be left alone for a while.
	ReasonRateLimited = "RateLimited"
	// ReasonPaused: the pause annotation is present.
	ReasonPaused = "Paused"
	// ReasonUnknownReason: nothing has been found out yet.
	ReasonUnknownReason = "UnknownReason"
)

// Reasons of PoolManager; the failure is also a reason of Ready.
const (
	// ReasonPoolManagerRunning: the server's pool manager of the entity runs.
	ReasonPoolManagerRunning = "PoolManagerRunning"
	// ReasonPoolManagerFailure: the server's pool manager of the entity is down; the message says why.
	ReasonPoolManagerFailure = "PoolManagerFailure"
)

// Reasons of Webhook; the failure is also a reason of Ready.
const (
	// ReasonWebhookInstalled: GitHub tells the GARM server of jobs; the message names the webhook.
	ReasonWebhookInstalled = "WebhookInstalled"
	// ReasonWebhookRemoved: the GARM server has removed its webhook, or had none.
	ReasonWebhookRemoved = "WebhookRemoved"
	// ReasonWebhookFailed: the webhook could not be installed or removed; the message says what to do.
	ReasonWebhookFailed = "WebhookFailed"
)

// Reasons of the reference conditions. The failures are also reasons of Ready.
const (
	ReasonFetchingWebhookSecretRefSuccess  = "FetchingWebhookSecretRefSuccess"
	ReasonFetchingWebhookSecretRefFailed   = "FetchingWebhookSecretRefFailed"
	ReasonGithubCredentialsRefSuccess      = "GithubCredentialsRefSuccess"
	ReasonGithubCredentialsRefFailed       = "GithubCredentialsRefFailed"
	ReasonFetchingGithubEndpointRefSuccess = "FetchingGithubEndpointRefSuccess"
	ReasonFetchingGithubEndpointRefFailed  = "FetchingGithubEndpointRefFailed"
	ReasonFetchingImageRefSuccess          = "FetchingImageRefSuccess"
	ReasonFetchingImageRefFailed           = "FetchingImageRefFailed"
	ReasonFetchingScopeRefSuccess          = "FetchingScopeRefSuccess"
	ReasonFetchingScopeRefFailed           = "FetchingScopeRefFailed"
	// ReasonScopeRefNotReady: the scope of a Pool exists but has no id at the GARM server yet.
	ReasonScopeRefNotReady = "ScopeRefNotReady"
)
