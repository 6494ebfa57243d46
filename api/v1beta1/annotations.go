package v1beta1

// Annotations that a user sets.
const (
	// AnnotationPaused stops the operator from touching the resource and what it stands for at the GARM server. Its
	// presence counts, whatever its value but "false". A paused resource that is deleted is released: GARM keeps its object.
	AnnotationPaused = Group + "/paused"
	// AnnotationAdoptPoolID names, on a Pool without an id, the id (a UUID) of an existing GARM pool that the Pool takes
	// over instead of creating one.
	AnnotationAdoptPoolID = Group + "/adopt-pool-id"
)

// Annotations that the operator writes for itself; a user leaves them alone.
const (
	// AnnotationPoolIntent is stored on a Pool before its GARM pool is created: the time, and the ids of the pools that
	// the scope had. After a crash it tells a pool that was created from one that was not.
	AnnotationPoolIntent = Group + "/pool-intent"
	// AnnotationSecretMarker records which Secret (uid and resourceVersion, never a value or its hash) was last sent to
	// the GARM server, so that a restart sends nothing again.
	AnnotationSecretMarker = Group + "/secret-marker"
)
