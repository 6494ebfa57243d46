package model

import "time"

// JobStatus is how far a job has come.
type JobStatus string

// Job states, in the order in which a job passes them.
const (
	JobQueued     JobStatus = "queued"
	JobInProgress JobStatus = "in_progress"
	JobCompleted  JobStatus = "completed"
)

// Job is a workflow job that asked for a runner.
type Job struct {
	ID JobID
	// WorkflowJobID is the forge's id.
	WorkflowJobID   int64
	RunID           int64
	Action          string
	Status          JobStatus
	Conclusion      string
	Name            string
	StartedAt       time.Time
	CompletedAt     time.Time
	RunnerID        int64
	RunnerName      string
	RunnerGroupID   int64
	RunnerGroupName string
	RepositoryName  string
	RepositoryOwner string
	WorkflowRunURL  string
	Labels          []string
	EntityID        EntityID
	EntityKind      EntityKind
	// LockedBy is the entity that makes a runner for the job; empty where none does.
	LockedBy EntityID
	// InstanceID is the instance that runs the job; empty where it is none of ours.
	InstanceID InstanceID
	CreatedAt  time.Time
	UpdatedAt  time.Time
}
