package sqlstore

import (
	"context"
	"reflect"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

var jobs = table[model.Job]{
	name: "jobs", key: "id", order: "jobs.id",
	joins: "JOIN entities ON entities.id = jobs.entity_id",
	own: func(j *model.Job) []field {
		return []field{
			{"id", rowID[model.JobID]{&j.ID}},
			{"workflow_job_id", &j.WorkflowJobID},
			{"run_id", &j.RunID},
			{"action", &j.Action},
			{"status", &j.Status},
			{"conclusion", &j.Conclusion},
			{"name", &j.Name},
			{"started_at", nanos{&j.StartedAt}},
			{"completed_at", nanos{&j.CompletedAt}},
			{"runner_id", &j.RunnerID},
			{"runner_name", &j.RunnerName},
			{"runner_group_id", &j.RunnerGroupID},
			{"runner_group_name", &j.RunnerGroupName},
			{"repository_name", &j.RepositoryName},
			{"repository_owner", &j.RepositoryOwner},
			{"workflow_run_url", &j.WorkflowRunURL},
			{"labels", asJSON{&j.Labels}},
			{"entity_id", &j.EntityID},
			{"locked_by", &j.LockedBy},
			{"instance_id", &j.InstanceID},
			{"created_at", nanos{&j.CreatedAt}},
			{"updated_at", nanos{&j.UpdatedAt}},
		}
	},
	joined: func(j *model.Job) []field { return []field{{"entities.kind", &j.EntityKind}} },
}

func noJob() error { return model.NotFound("job not found") }

// Jobs returns all jobs.
func (s *Store) Jobs(ctx context.Context) ([]model.Job, error) { return jobs.list(ctx, s.reader, "") }

// QueuedJobs returns the jobs of an entity that wait for a runner, the oldest first.
func (s *Store) QueuedJobs(ctx context.Context, id model.EntityID) ([]model.Job, error) {
	return jobs.list(ctx, s.reader, "jobs.entity_id = ? AND jobs.status = ?", id, model.JobQueued)
}

// JobOfInstance returns the newest job that an instance runs or ran.
func (s *Store) JobOfInstance(ctx context.Context, id model.InstanceID) (model.Job, error) {
	return jobs.one(ctx, s.reader, noJob(), "jobs.id = (SELECT max(id) FROM jobs WHERE instance_id = ?)", id)
}

// RecordJob changes the row of a workflow job by update, in one transaction; before it is inserted the row holds only
// the ids. An error of update is returned as it is. A row that update leaves without a status is not inserted.
func (s *Store) RecordJob(ctx context.Context, workflowJobID int64, entity model.EntityID, update func(job *model.Job, exists bool) error) (model.Job, error) {
	var j model.Job
	err := s.write(ctx, "recording the job", func(t *tx) error {
		rows, err := jobs.list(ctx, t, "jobs.workflow_job_id = ?", workflowJobID)
		if err != nil {
			return err
		}
		exists := len(rows) > 0
		j = model.Job{WorkflowJobID: workflowJobID, EntityID: entity, CreatedAt: s.now().UTC()}
		if exists {
			j = rows[0]
		}
		before := j
		if err := update(&j, exists); err != nil || reflect.DeepEqual(before, j) || j.Status == "" {
			return err
		}
		j.UpdatedAt = s.now().UTC()
		if exists {
			t.changed(model.OpUpdate, j)
			return jobs.update(ctx, t, int64(j.ID), &j)
		}
		id, err := jobs.insert(ctx, t, &j)
		j.ID = model.JobID(id)
		t.changed(model.OpCreate, j)
		return err
	})
	return j, err
}

// UpdateJob changes a job by update; its error is returned as it is. Where update changes nothing, nothing is written.
func (s *Store) UpdateJob(ctx context.Context, id model.JobID, update func(*model.Job) error) (model.Job, error) {
	var j model.Job
	err := s.write(ctx, "updating the job", func(t *tx) (err error) {
		if j, err = jobs.one(ctx, t, noJob(), "jobs.id = ?", int64(id)); err != nil {
			return err
		}
		before := j
		if err := update(&j); err != nil || reflect.DeepEqual(before, j) {
			return err
		}
		j.UpdatedAt = s.now().UTC()
		t.changed(model.OpUpdate, j)
		return jobs.update(ctx, t, int64(id), &j)
	})
	return j, err
}

// DeleteJob removes a job. A missing one is no error.
func (s *Store) DeleteJob(ctx context.Context, id model.JobID) error {
	return s.write(ctx, "deleting the job", func(t *tx) error {
		j, err := jobs.one(ctx, t, noJob(), "jobs.id = ?", int64(id))
		if model.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		t.changed(model.OpDelete, j)
		_, err = t.ExecContext(ctx, "DELETE FROM jobs WHERE id = ?", int64(id))
		return err
	})
}
