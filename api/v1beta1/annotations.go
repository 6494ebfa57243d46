package v1beta1

// Annotations that a user sets.
const (
	// AnnotationPaused stops the operator from touching the resource and what it stands for at the GARM server. Its
	// presence counts, whatever its value but "false". A paused resource that is deleted is released: GARM keeps its object.
	AnnotationPaused = Group + "/paused"
	// AnnotationAdoptPoolID names, on a Pool without an id, the id (a UUID) of an existing GARM pool that the Pool takes
	// over instead of creating one.
	AnnotationAdoptPoolID = Group + "/adopt-pool-id"
	// AnnotationForceDelete lets the deletion of the resource go on where GARM could not do all of it: runners are removed
	// although GitHub refuses the credentials or the pool manager is down (what GitHub still knows of them stays there),
	// and although the provider fails to remove the machine (which then stays). On a Pool, runners that are busy with a
	// job are removed, too, and so is the one that a Runner shows: the job is lost, unless GitHub itself still protects
	// the runner. On an Enterprise, Organization or Repository it holds for the Pools of that scope that are being
	// deleted. Its presence counts, whatever its value but "false"; it does nothing to a resource that is not being
	// deleted.
	AnnotationForceDelete = Group + "/force-delete"
)

// Annotations that the operator writes for itself; a user leaves them alone.
const (
	// AnnotationPoolIntent is stored on a Pool before its GARM pool is created: the time, and the ids of the pools that
	// the scope had. After a crash it tells a pool that was created from one that was not.
	AnnotationPoolIntent = Group + "/pool-intent"
	// AnnotationSecretMarker records which Secret (uid and resourceVersion, never a value or its hash) was last sent to
	// the GARM server, so that a restart sends nothing again.
	AnnotationSecretMarker = Group + "/secret-marker"
	// AnnotationWebhookMarker records, on an Organization or Repository with spec.webhook, which webhook was installed, for
	// which object at which GARM server and with which Secret (uid and resourceVersion), and when to look at it again.
	AnnotationWebhookMarker = Group + "/webhook-marker"
	// AnnotationOutdatedRunners lists, on a Pool that replaces its outdated runners, the names of those that were made
	// before the last change, where the GARM server does not keep account of it (before v0.2). It goes when they have.
	AnnotationOutdatedRunners = Group + "/outdated-runners"
)
