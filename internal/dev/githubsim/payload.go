package githubsim

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// idOfName makes a stable id of a thing that exists because somebody names it.
func idOfName(s Scope) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s.key()))
	return int64(h.Sum32()&0x7fffffff) + 1
}

func repositoryPayload(s Scope, address string) map[string]any {
	parts := strings.Split(string(s), "/")
	owner, name := parts[1], parts[2]
	return map[string]any{
		"id": idOfName(s), "name": name, "full_name": owner + "/" + name, "private": true,
		"html_url": address + s.webPath(), "url": address + "/api/v3/" + string(s),
		"owner": map[string]any{"id": idOfName(OrganizationScope(owner)), "login": owner, "type": "Organization", "html_url": address + "/" + owner},
	}
}

// jobPayload shows a job as both the REST API and the webhook do.
func jobPayload(j *job, address string) map[string]any {
	api := address + "/api/v3/" + string(j.scope)
	run := fmt.Sprintf("%s%s/actions/runs/%d", address, j.scope.webPath(), j.RunID)
	return map[string]any{
		"id": j.ID, "run_id": j.RunID, "run_attempt": 1, "name": j.Name, "workflow_name": "CI", "status": j.Status,
		"conclusion": orNull(j.Conclusion), "labels": j.Labels, "head_branch": "main", "head_sha": fmt.Sprintf("%040x", j.RunID),
		"html_url": fmt.Sprintf("%s/job/%d", run, j.ID), "url": fmt.Sprintf("%s/actions/jobs/%d", api, j.ID),
		"run_url":    fmt.Sprintf("%s/actions/runs/%d", api, j.RunID),
		"created_at": timeOrNull(j.CreatedAt), "started_at": startedAt(j), "completed_at": timeOrNull(j.CompletedAt),
		"runner_id": orNull(j.RunnerID), "runner_name": orNull(j.RunnerName),
		"runner_group_id": orNull(j.RunnerGroupID), "runner_group_name": orNull(j.RunnerGroupName),
		"steps": []any{},
	}
}

// startedAt is never null: before a job starts GitHub shows the time of its creation.
func startedAt(j *job) any {
	if j.StartedAt.IsZero() {
		return timeOrNull(j.CreatedAt)
	}
	return timeOrNull(j.StartedAt)
}

func timeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

func orNull[T comparable](value T) any {
	var zero T
	if value == zero {
		return nil
	}
	return value
}

// workflowJobEvent is the payload of a workflow_job event. enterprise is the slug of the one over the repository, if any.
func workflowJobEvent(j *job, enterprise, address string) map[string]any {
	repository := repositoryPayload(j.scope, address)
	owner, _ := repository["owner"].(map[string]any)
	event := map[string]any{
		"action": j.Status, "workflow_job": jobPayload(j, address), "repository": repository,
		"organization": map[string]any{"id": owner["id"], "login": owner["login"]},
		"sender":       map[string]any{"login": "octocat", "id": 1, "type": "User"},
	}
	if enterprise != "" {
		event["enterprise"] = map[string]any{"id": idOfName(EnterpriseScope(enterprise)), "slug": enterprise, "name": enterprise}
	}
	return event
}
