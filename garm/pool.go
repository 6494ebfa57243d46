package garm

import (
	"encoding/json"
	"time"
)

// Operating systems and architectures that a pool can name.
const (
	OSLinux   = "linux"
	OSWindows = "windows"

	ArchAMD64 = "amd64"
	ArchARM64 = "arm64"
	ArchARM   = "arm"
)

// What a server reads back where a pool was created without the value.
const (
	DefaultRunnerPrefix           = "garm"
	DefaultRunnerBootstrapTimeout = 20 // minutes
	// MaxRunnerBootstrapTimeout is what a longer time is taken for: two years.
	MaxRunnerBootstrapTimeout = 1 << 20 // minutes
)

// Tag is a label that a job can ask for.
type Tag struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Pool is a group of runners of one shape that belongs to one entity.
type Pool struct {
	RunnerPrefix   string `json:"runner_prefix"`
	ID             string `json:"id"`
	ProviderName   string `json:"provider_name"`
	MaxRunners     uint   `json:"max_runners"`
	MinIdleRunners uint   `json:"min_idle_runners"`
	Image          string `json:"image"`
	Flavor         string `json:"flavor"`
	OSType         string `json:"os_type"`
	OSArch         string `json:"os_arch"`
	Tags           []Tag  `json:"tags"`
	Enabled        bool   `json:"enabled"`
	// Instances is filled only by GET of one pool.
	Instances []Instance `json:"instances"`

	RepoID         string `json:"repo_id,omitempty"`
	RepoName       string `json:"repo_name,omitempty"` // owner/name
	OrgID          string `json:"org_id,omitempty"`
	OrgName        string `json:"org_name,omitempty"`
	EnterpriseID   string `json:"enterprise_id,omitempty"`
	EnterpriseName string `json:"enterprise_name,omitempty"`

	// RunnerBootstrapTimeout is how long, in minutes, a runner may take to become idle.
	RunnerBootstrapTimeout uint `json:"runner_bootstrap_timeout"`
	// ExtraSpecs is JSON for the provider. Lists leave it out.
	ExtraSpecs json.RawMessage `json:"extra_specs,omitempty"`
	// RunnerGroup is the GitHub runner group, for organizations and enterprises.
	RunnerGroup string `json:"github-runner-group"`
	Priority    uint   `json:"priority"`

	// CreatedAt and UpdatedAt exist since v0.1.6; before they are zero.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// The fields below exist since v0.2. Generation counts changes that make existing runners outdated.
	EnableShell  bool     `json:"enable_shell"`
	Generation   uint64   `json:"generation"`
	Endpoint     Endpoint `json:"endpoint"`
	TemplateID   uint     `json:"template_id"`
	TemplateName string   `json:"template_name"`
}

// CreatePoolParams is the body of POST .../pools.
type CreatePoolParams struct {
	RunnerPrefix           string          `json:"runner_prefix,omitempty"`
	ProviderName           string          `json:"provider_name"`
	MaxRunners             uint            `json:"max_runners"`
	MinIdleRunners         uint            `json:"min_idle_runners"`
	Image                  string          `json:"image"`
	Flavor                 string          `json:"flavor"`
	OSType                 string          `json:"os_type"`
	OSArch                 string          `json:"os_arch"`
	Tags                   []string        `json:"tags"`
	Enabled                bool            `json:"enabled"`
	RunnerBootstrapTimeout uint            `json:"runner_bootstrap_timeout"`
	ExtraSpecs             json.RawMessage `json:"extra_specs,omitempty"`
	RunnerGroup            string          `json:"github-runner-group"`
	Priority               uint            `json:"priority"`
	// EnableShell and TemplateID are read since v0.2.
	EnableShell *bool `json:"enable_shell,omitempty"`
	TemplateID  *uint `json:"template_id,omitempty"`
}

// UpdatePoolParams is the body of PUT on a pool. Nil pointers, empty strings, absent tags and absent extra specs stay
// as they are.
type UpdatePoolParams struct {
	RunnerPrefix           string          `json:"runner_prefix,omitempty"`
	MaxRunners             *uint           `json:"max_runners,omitempty"`
	MinIdleRunners         *uint           `json:"min_idle_runners,omitempty"`
	Image                  string          `json:"image,omitempty"`
	Flavor                 string          `json:"flavor,omitempty"`
	OSType                 string          `json:"os_type,omitempty"`
	OSArch                 string          `json:"os_arch,omitempty"`
	Tags                   []string        `json:"tags,omitempty"`
	Enabled                *bool           `json:"enabled,omitempty"`
	RunnerBootstrapTimeout *uint           `json:"runner_bootstrap_timeout,omitempty"`
	ExtraSpecs             json.RawMessage `json:"extra_specs,omitempty"`
	RunnerGroup            *string         `json:"github-runner-group,omitempty"`
	Priority               *uint           `json:"priority,omitempty"`
	EnableShell            *bool           `json:"enable_shell,omitempty"`
	TemplateID             *uint           `json:"template_id,omitempty"`
}
