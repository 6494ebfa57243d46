package webhook

import "time"

// payload is a workflow_job event, as far as it matters.
type payload struct {
	Action string `json:"action"`
	Job    struct {
		ID              int64     `json:"id"`
		RunID           int64     `json:"run_id"`
		HTMLURL         string    `json:"html_url"`
		Status          string    `json:"status"`
		Conclusion      string    `json:"conclusion"`
		Name            string    `json:"name"`
		StartedAt       time.Time `json:"started_at"`
		CompletedAt     time.Time `json:"completed_at"`
		Labels          []string  `json:"labels"`
		RunnerID        int64     `json:"runner_id"`
		RunnerName      string    `json:"runner_name"`
		RunnerGroupID   int64     `json:"runner_group_id"`
		RunnerGroupName string    `json:"runner_group_name"`
	} `json:"workflow_job"`
	Repository struct {
		Name  string `json:"name"`
		Owner struct {
			Login string `json:"login"`
		} `json:"owner"`
	} `json:"repository"`
	Organization struct {
		Login string `json:"login"`
	} `json:"organization"`
	Enterprise struct {
		Slug string `json:"slug"`
	} `json:"enterprise"`
}
