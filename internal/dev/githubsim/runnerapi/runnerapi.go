// Package runnerapi is the protocol between the simulated GitHub and the simulated runner. It stands in for the private
// one that GitHub and its runner speak, and keeps what users can see of that one: a runner registers with a token or
// brings just-in-time credentials, holds a session while it is online, gets one job at a time, and says when it starts
// and finishes it.
//
// The session is one HTTP answer that stays open: a line of JSON, a Message, for each thing to tell the runner. When
// the connection ends the runner is offline, however it ended.
package runnerapi

import "time"

// Paths of the protocol, below the address of the simulator. All but RegisterPath want the runner's own token.
const (
	RegisterPath = "/_sim/runner/register"
	SessionPath  = "/_sim/runner/session"
	StartPath    = "/_sim/runner/start"
	FinishPath   = "/_sim/runner/finish"
)

// Registration is the body of a POST to RegisterPath.
type Registration struct {
	// URL is the web address of the repository, organization or enterprise.
	URL   string `json:"url"`
	Token string `json:"token"`
	Name  string `json:"name"`
	// Group is the name of a runner group, empty for the default one.
	Group           string   `json:"group,omitempty"`
	Labels          []string `json:"labels"`
	NoDefaultLabels bool     `json:"no_default_labels,omitempty"`
	Ephemeral       bool     `json:"ephemeral,omitempty"`
}

// Files are the answer to a Registration: the runner's files by name (".runner", ".credentials",
// ".credentials_rsaparams"), the same as in a just-in-time configuration.
type Files map[string][]byte

// Settings is the content of the file .runner.
type Settings struct {
	AgentID   int64  `json:"agentId"`
	AgentName string `json:"agentName"`
	PoolID    int64  `json:"poolId"`
	// ServerURL is where the protocol is spoken, GitHubURL what the runner is registered to.
	ServerURL  string `json:"serverUrl"`
	GitHubURL  string `json:"gitHubUrl"`
	WorkFolder string `json:"workFolder"`
	Ephemeral  bool   `json:"ephemeral"`
}

// Credentials is the content of the file .credentials.
type Credentials struct {
	Scheme string          `json:"scheme"`
	Data   CredentialsData `json:"data"`
}

// CredentialsData holds the token by which the runner opens its session.
type CredentialsData struct {
	Token string `json:"token"`
}

// MessageType says what a Message is about.
type MessageType string

// Message types.
const (
	// Connected is the first message: the runner is online.
	Connected MessageType = "connected"
	// JobAssigned brings a job to run.
	JobAssigned MessageType = "job"
	// JobCancelled says that the job which the runner has is over.
	JobCancelled MessageType = "cancel"
	// Removed says that the runner is no longer registered; it has to exit.
	Removed MessageType = "removed"
)

// Message is one line of a session.
type Message struct {
	Type MessageType `json:"type"`
	Job  *Job        `json:"job,omitempty"`
}

// Job is what a runner gets to know of a job.
type Job struct {
	ID         int64         `json:"id"`
	Name       string        `json:"name"`
	Repository string        `json:"repository"`
	Duration   time.Duration `json:"duration_ns"`
	// Conclusion is how the job has to end, such as "success".
	Conclusion string `json:"conclusion"`
}

// Report is the body of a POST to StartPath and FinishPath. Conclusion belongs to the latter.
type Report struct {
	JobID      int64  `json:"job_id"`
	Conclusion string `json:"conclusion,omitempty"`
}
