package garm

import (
	"encoding/json"
	"time"
)

// Job is a GitHub Actions job that asked for a runner.
//
// GARM v0.1.5 spells some keys in Go's letter case (StartedAt) where later releases use snake case (started_at). Both
// are read, and both are written, so that clients of either generation understand the value.
type Job struct {
	// ID is GitHub's job id up to v0.1.x, and the server's own from v0.2 on, where WorkflowJobID is GitHub's.
	ID              int64     `json:"id"`
	WorkflowJobID   int64     `json:"workflow_job_id"`
	ScaleSetJobID   string    `json:"scaleset_job_id"`
	RunID           int64     `json:"run_id"`
	Action          string    `json:"action"`
	Conclusion      string    `json:"conclusion"`
	Status          string    `json:"status"`
	Name            string    `json:"name"`
	StartedAt       time.Time `json:"started_at"`
	CompletedAt     time.Time `json:"completed_at"`
	RunnerID        int64     `json:"runner_id"`
	RunnerName      string    `json:"runner_name"`
	RunnerGroupID   int64     `json:"runner_group_id"`
	RunnerGroupName string    `json:"runner_group_name"`
	RepositoryName  string    `json:"repository_name"`
	RepositoryOwner string    `json:"repository_owner"`
	WorkflowRunURL  string    `json:"workflow_run_url"`
	Labels          []string  `json:"labels"`
	RepoID          string    `json:"repo_id,omitempty"`
	OrgID           string    `json:"org_id,omitempty"`
	EnterpriseID    string    `json:"enterprise_id,omitempty"`
	// LockedBy is the id of the entity that makes a runner for the job, or the zero UUID.
	LockedBy  string    `json:"locked_by"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// jobPlain is Job without its methods.
type jobPlain Job

// jobOld holds the keys that v0.1.5 spells otherwise.
type jobOld struct {
	OldStartedAt       *time.Time `json:"StartedAt,omitempty"`
	OldCompletedAt     *time.Time `json:"CompletedAt,omitempty"`
	OldRepositoryName  *string    `json:"RepositoryName,omitempty"`
	OldRepositoryOwner *string    `json:"RepositoryOwner,omitempty"`
	OldLabels          *[]string  `json:"Labels,omitempty"`
	OldLockedBy        *string    `json:"LockedBy,omitempty"`
}

// MarshalJSON writes both spellings.
func (j Job) MarshalJSON() ([]byte, error) {
	if j.Labels == nil {
		j.Labels = []string{}
	}
	return json.Marshal(struct {
		jobPlain
		jobOld
	}{jobPlain(j), jobOld{&j.StartedAt, &j.CompletedAt, &j.RepositoryName, &j.RepositoryOwner, &j.Labels, &j.LockedBy}})
}

// UnmarshalJSON reads either spelling; where both are present they are taken to agree.
func (j *Job) UnmarshalJSON(data []byte) error {
	// encoding/json matches keys without letter case, so "Labels" also lands in the new spelling unless the old field
	// takes it: an exact match wins.
	var both struct {
		jobPlain
		jobOld
	}
	if err := json.Unmarshal(data, &both); err != nil {
		return err
	}
	*j = Job(both.jobPlain)
	take(&j.StartedAt, both.OldStartedAt)
	take(&j.CompletedAt, both.OldCompletedAt)
	take(&j.RepositoryName, both.OldRepositoryName)
	take(&j.RepositoryOwner, both.OldRepositoryOwner)
	take(&j.Labels, both.OldLabels)
	take(&j.LockedBy, both.OldLockedBy)
	return nil
}

func take[T any](dst, old *T) {
	if old != nil {
		*dst = *old
	}
}
