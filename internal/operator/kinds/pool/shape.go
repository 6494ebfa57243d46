package pool

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/poolspec"
)

// shape is a pool as it is compared: brought into one form, whoever wrote it.
type shape struct {
	Provider string
	Prefix   string
	Max, Min uint
	Image    string
	Flavor   string
	OSType   string
	OSArch   string
	// Tags are in lower case, in order, each once.
	Tags    []string
	Enabled bool
	// Timeout is in minutes.
	Timeout uint
	Group   string
	// Extra is JSON in one form; empty for none.
	Extra string `json:"-"`
	// Priority is nil where the user leaves it to the server.
	Priority *uint `json:"-"`
}

// shapeOf returns the shape that a spec asks for. An error names the field and the fix.
func shapeOf(spec v1beta1.PoolSpec, image string) (shape, error) {
	extra, err := poolspec.ExtraSpecs([]byte(spec.ExtraSpecs))
	if err != nil {
		return shape{}, err
	}
	s := shape{
		Provider: spec.ProviderName, Prefix: orDefault(spec.RunnerPrefix, garm.DefaultRunnerPrefix), Max: uint(max(spec.MaxRunners, 0)),
		Min: uint(max(spec.MinIdleRunners, 0)), Image: image, Flavor: spec.Flavor, OSType: string(spec.OSType), OSArch: string(spec.OSArch.Canonical()),
		Tags: poolspec.Tags(spec.Tags), Enabled: spec.Enabled, Timeout: uint(max(spec.RunnerBootstrapTimeout, 0)), Group: spec.GitHubRunnerGroup, Extra: extra,
	}
	if spec.Priority != nil {
		s.Priority = new(uint(max(*spec.Priority, 0)))
	}
	s.Timeout = orDefault(s.Timeout, garm.DefaultRunnerBootstrapTimeout)
	return s, s.check()
}

// check refuses what servers answer with a bare 500, or store and then choke on.
func (s shape) check() error {
	switch {
	case s.Max < 1:
		return fmt.Errorf("spec.maxRunners must be at least 1")
	case s.Min > s.Max:
		return fmt.Errorf("spec.minIdleRunners is %d; it must be at most spec.maxRunners, %d", s.Min, s.Max)
	case s.Timeout > garm.MaxRunnerBootstrapTimeout:
		return fmt.Errorf("spec.runnerBootstrapTimeout is %d; it must be at most %d", s.Timeout, uint(garm.MaxRunnerBootstrapTimeout))
	case s.Image == "":
		return fmt.Errorf("the Image has no tag; set its spec.tag")
	case s.Flavor == "":
		return fmt.Errorf("spec.flavor must be set")
	case len(s.Tags) == 0 || slices.Contains(s.Tags, ""):
		return fmt.Errorf("spec.tags must hold at least one label, and no empty one")
	case s.OSType != garm.OSLinux && s.OSType != garm.OSWindows:
		return fmt.Errorf("spec.osType is %q; it must be linux or windows", s.OSType)
	case s.OSArch != garm.ArchAMD64 && s.OSArch != garm.ArchARM64 && s.OSArch != garm.ArchARM:
		return fmt.Errorf("spec.osArch is %q; it must be amd64, arm64 or arm", s.OSArch)
	}
	return nil
}

// seen returns the shape that the server shows. Extra specs that are not JSON are compared as they stand.
func seen(p *garm.Pool) shape {
	extra, err := poolspec.ExtraSpecs(p.ExtraSpecs)
	if err != nil {
		extra = string(p.ExtraSpecs)
	}
	tags := make([]string, 0, len(p.Tags))
	for _, t := range p.Tags {
		tags = append(tags, t.Name)
	}
	return shape{
		Provider: p.ProviderName, Prefix: orDefault(p.RunnerPrefix, garm.DefaultRunnerPrefix), Max: p.MaxRunners, Min: p.MinIdleRunners,
		Image: p.Image, Flavor: p.Flavor, OSType: p.OSType, OSArch: p.OSArch, Tags: poolspec.Tags(tags), Enabled: p.Enabled,
		Timeout: orDefault(p.RunnerBootstrapTimeout, garm.DefaultRunnerBootstrapTimeout), Group: p.RunnerGroup, Extra: extra,
		Priority: &p.Priority,
	}
}

// Fields that an update can change.
const (
	fieldPrefix  = "runnerPrefix"
	fieldMax     = "maxRunners"
	fieldMin     = "minIdleRunners"
	fieldImage   = "imageName"
	fieldFlavor  = "flavor"
	fieldOSType  = "osType"
	fieldOSArch  = "osArch"
	fieldTags    = "tags"
	fieldEnabled = "enabled"
	fieldTimeout = "runnerBootstrapTimeout"
	fieldGroup   = "githubRunnerGroup"
	fieldExtra   = "extraSpecs"
	fieldRank    = "priority"
)

// diff returns the fields in which two shapes differ. Extra specs count only where they are known.
func diff(want, have shape, extraKnown bool) []string {
	var fields []string
	add := func(field string, differs bool) {
		if differs {
			fields = append(fields, field)
		}
	}
	add(fieldPrefix, want.Prefix != have.Prefix)
	add(fieldMax, want.Max != have.Max)
	add(fieldMin, want.Min != have.Min)
	add(fieldImage, want.Image != have.Image)
	add(fieldFlavor, want.Flavor != have.Flavor)
	add(fieldOSType, want.OSType != have.OSType)
	add(fieldOSArch, want.OSArch != have.OSArch)
	add(fieldTags, !slices.Equal(want.Tags, have.Tags))
	add(fieldEnabled, want.Enabled != have.Enabled)
	add(fieldTimeout, want.Timeout != have.Timeout)
	add(fieldGroup, want.Group != have.Group)
	add(fieldExtra, extraKnown && want.Extra != have.Extra)
	add(fieldRank, want.Priority != nil && *want.Priority != *have.Priority)
	return fields
}

// fingerprint identifies all of a shape but its extra specs and its priority, which need not be said.
func (s shape) fingerprint() string {
	text, _ := json.Marshal(s) // strings, numbers and booleans always marshal
	return digest(text)
}

func (s shape) extraFingerprint() string { return digest([]byte(s.Extra)) }

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

func orDefault[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}
