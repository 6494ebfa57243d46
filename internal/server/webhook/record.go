package webhook

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/model/instance"
)

// rank orders the states of a job; an event that comes late does not take a job backwards.
var rank = map[model.JobStatus]int{model.JobQueued: 1, model.JobInProgress: 2, model.JobCompleted: 3}

// record keeps what an event says. Actions other than queued, in_progress and completed are nothing to act on.
func (h *Handler) record(ctx context.Context, entity model.Entity, p payload) error {
	status := model.JobStatus(p.Action)
	if rank[status] == 0 {
		return nil
	}
	runner, err := h.runner(ctx, entity, p.Job.RunnerName)
	if err != nil {
		return err
	}
	if status == model.JobQueued {
		wanted, err := h.wanted(ctx, entity, p.Job.Labels)
		if err != nil || !wanted {
			return err
		}
	}
	_, err = h.store.RecordJob(ctx, p.Job.ID, entity.ID, func(j *model.Job, exists bool) error {
		if !exists && status != model.JobQueued && runner.ID == "" {
			return errSkip // neither asked for a runner of ours nor got one
		}
		if exists && rank[status] < rank[j.Status] {
			return errSkip
		}
		fill(j, p, status, runner.ID)
		return nil
	})
	if err != nil && !errors.Is(err, errSkip) {
		return err
	}
	if err == nil {
		h.log.Info("A job was recorded", "job", p.Job.ID, "status", status, "entity", entity.FullName(), "runner", p.Job.RunnerName)
	}
	return h.move(ctx, runner, status)
}

func fill(j *model.Job, p payload, status model.JobStatus, runner model.InstanceID) {
	j.RunID, j.Action, j.Status, j.Conclusion, j.Name = p.Job.RunID, p.Action, status, p.Job.Conclusion, p.Job.Name
	j.StartedAt, j.CompletedAt, j.Labels, j.WorkflowRunURL = p.Job.StartedAt.UTC(), p.Job.CompletedAt.UTC(), p.Job.Labels, runURL(p.Job.HTMLURL)
	j.RepositoryName, j.RepositoryOwner = p.Repository.Name, p.Repository.Owner.Login
	if status != model.JobQueued {
		j.RunnerID, j.RunnerName, j.RunnerGroupID, j.RunnerGroupName = p.Job.RunnerID, p.Job.RunnerName, p.Job.RunnerGroupID, p.Job.RunnerGroupName
	}
	if runner != "" {
		j.InstanceID = runner
	}
}

// runURL is the page of a job's run, which the page of the job lies below.
func runURL(job string) string {
	run, _, _ := strings.Cut(job, "/job/")
	run, _, _ = strings.Cut(run, "/jobs/")
	return run
}

// runner is the instance of ours that an event names; one without an id where it is none.
func (h *Handler) runner(ctx context.Context, entity model.Entity, name string) (model.Instance, error) {
	if name == "" {
		return model.Instance{}, nil
	}
	i, err := h.store.InstanceByName(ctx, name)
	if model.IsNotFound(err) || err == nil && i.EntityID != entity.ID {
		return model.Instance{}, nil
	}
	return i, err
}

// wanted says whether an enabled pool of the entity has all labels of a job.
func (h *Handler) wanted(ctx context.Context, entity model.Entity, labels []string) (bool, error) {
	pools, err := h.store.PoolsOfEntity(ctx, entity.ID)
	return slices.ContainsFunc(pools, func(p model.Pool) bool { return p.Enabled && covers(p.TagNames(), labels) }), err
}

func covers(tags, labels []string) bool {
	for _, label := range labels {
		if !slices.ContainsFunc(tags, func(tag string) bool { return strings.EqualFold(tag, label) }) {
			return false
		}
	}
	return len(labels) > 0
}

// move brings the runner of a job to the state that the event implies, where its own state allows it.
func (h *Handler) move(ctx context.Context, runner model.Instance, status model.JobStatus) error {
	if runner.ID == "" || status == model.JobQueued {
		return nil
	}
	_, err := h.store.UpdateInstance(ctx, runner.ID, func(i *model.Instance) error {
		if status == model.JobInProgress {
			return instance.SetRunner(i, instance.Forge, model.RunnerActive)
		}
		if err := instance.SetRunner(i, instance.Forge, model.RunnerTerminated); err != nil {
			return err
		}
		if instance.Leaving(i.Status) {
			return nil
		}
		return instance.SetStatus(i, instance.Forge, model.InstancePendingDelete)
	})
	if model.KindOf(err) == model.KindInvalid || model.IsNotFound(err) {
		h.log.Warn("A job's event does not fit the state of its runner", "runner", runner.Name, "event", status, "error", err)
		return nil
	}
	return err
}
