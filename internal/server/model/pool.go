package model

import (
	"encoding/json"
	"time"
)

// OSType is the operating system of a pool's runners.
type OSType string

// Operating systems.
const (
	Linux   OSType = "linux"
	Windows OSType = "windows"
)

// OSArch is the processor architecture of a pool's runners.
type OSArch string

// Architectures.
const (
	AMD64 OSArch = "amd64"
	ARM64 OSArch = "arm64"
	ARM   OSArch = "arm"
)

// Defaults of a pool.
const (
	DefaultRunnerPrefix     = "garm"
	DefaultBootstrapTimeout = 20 * time.Minute
)

// Tag is a label that a job can ask for.
type Tag struct {
	ID   TagID
	Name string
}

// Pool is a group of runners of one shape that belongs to one entity.
type Pool struct {
	ID           PoolID
	EntityID     EntityID
	EntityKind   EntityKind
	EntityName   string // as Entity.FullName
	Endpoint     Endpoint
	ProviderName string
	RunnerPrefix string
	Image        string
	Flavor       string
	OSType       OSType
	OSArch       OSArch
	// Tags are in the order in which they were given.
	Tags           []Tag
	MaxRunners     uint
	MinIdleRunners uint
	Enabled        bool
	// BootstrapTimeout is how long a runner may take from its creation until it is idle, in whole minutes.
	BootstrapTimeout time.Duration
	// ExtraSpecs is JSON for the provider; nil where there is none.
	ExtraSpecs  json.RawMessage
	RunnerGroup string
	// Priority decides which of several matching pools serves a job; the highest first.
	Priority    uint
	EnableShell bool
	// TemplateID and TemplateName name the install template that was chosen when the pool was made.
	TemplateID   uint
	TemplateName string
	// Generation counts changes that make existing runners outdated.
	Generation uint64
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// TagNames returns the names of the pool's tags.
func (p Pool) TagNames() []string {
	names := make([]string, len(p.Tags))
	for i, t := range p.Tags {
		names[i] = t.Name
	}
	return names
}
