package service

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// PoolUpdate is a change of a pool. A nil or empty field stays as it is; ExtraSpecs "null" is stored as such.
type PoolUpdate struct {
	RunnerPrefix, Image, Flavor string
	OSType                      model.OSType
	OSArch                      model.OSArch
	Tags                        []string
	ExtraSpecs                  json.RawMessage
	Enabled, EnableShell        *bool
	MaxRunners, MinIdleRunners  *uint
	BootstrapTimeout            *time.Duration
	RunnerGroup                 *string
	Priority                    *uint
}

// PoolView is a pool with its instances.
type PoolView struct {
	Pool      model.Pool
	Instances []model.Instance
}

// Pools returns all pools.
func (s *Service) Pools(ctx context.Context) ([]model.Pool, error) { return s.Store.Pools(ctx) }

// PoolsOfEntity returns the pools of an entity.
func (s *Service) PoolsOfEntity(ctx context.Context, kind model.EntityKind, id model.EntityID) ([]model.Pool, error) {
	if _, err := s.Entity(ctx, kind, id); err != nil {
		return nil, err
	}
	return s.Store.PoolsOfEntity(ctx, id)
}

// Pool returns a pool with its instances. owner, where not empty, is the entity that the pool has to belong to.
func (s *Service) Pool(ctx context.Context, owner model.EntityID, id model.PoolID) (PoolView, error) {
	pool, err := s.poolOf(ctx, owner, id)
	if err != nil {
		return PoolView{}, err
	}
	return s.view(ctx, pool)
}

func (s *Service) poolOf(ctx context.Context, owner model.EntityID, id model.PoolID) (model.Pool, error) {
	pool, err := s.Store.Pool(ctx, id)
	if err != nil {
		return model.Pool{}, err
	}
	if owner != "" && pool.EntityID != owner {
		return model.Pool{}, model.NotFound("pool not found")
	}
	return pool, nil
}

func (s *Service) view(ctx context.Context, pool model.Pool) (PoolView, error) {
	rows, err := s.Store.InstancesOfPool(ctx, pool.ID)
	return PoolView{pool, rows}, err
}

// CreatePool adds a pool to an entity.
func (s *Service) CreatePool(ctx context.Context, kind model.EntityKind, id model.EntityID, p model.Pool) (model.Pool, error) {
	entity, err := s.Entity(ctx, kind, id)
	if err != nil {
		return model.Pool{}, err
	}
	if p.RunnerPrefix == "" {
		p.RunnerPrefix = model.DefaultRunnerPrefix
	}
	if p.BootstrapTimeout == 0 {
		p.BootstrapTimeout = model.DefaultBootstrapTimeout
	}
	if err := s.checkNewPool(p); err != nil {
		return model.Pool{}, err
	}
	if p.ExtraSpecs, err = compactSpecs(p.ExtraSpecs); err != nil {
		return model.Pool{}, err
	}
	p.EntityID, p.Generation = entity.ID, 0
	p.TemplateID, p.TemplateName = systemTemplate(entity.Endpoint().Type, p.OSType)
	return s.Store.CreatePool(ctx, p)
}

const (
	// maxCount bounds the numbers of a pool, far above what anybody can need; the database keeps no larger ones.
	maxCount = math.MaxInt32
	// maxTags bounds the tags of a pool. GitHub takes a hundred labels of a runner.
	maxTags = 1000
)

// checkSize refuses what is too large to be meant.
func checkSize(p model.Pool) error {
	for _, n := range []struct {
		name  string
		value uint
	}{{"max_runners", p.MaxRunners}, {"min_idle_runners", p.MinIdleRunners}, {"priority", p.Priority}} {
		if n.value > maxCount {
			return model.Invalid("%s cannot be larger than %d", n.name, maxCount)
		}
	}
	if len(p.Tags) > maxTags {
		return model.Invalid("a pool cannot have more than %d tags", maxTags)
	}
	return nil
}

func (s *Service) checkNewPool(p model.Pool) error {
	if err := checkSize(p); err != nil {
		return err
	}
	switch {
	case p.ProviderName == "":
		return model.Invalid("missing provider_name")
	case p.MinIdleRunners > p.MaxRunners:
		return model.Invalid("min_idle_runners cannot be larger than max_runners")
	case p.MaxRunners == 0:
		return model.Invalid("max_runners cannot be 0")
	case len(p.Tags) == 0:
		return model.Invalid("missing tags")
	case p.Flavor == "":
		return model.Invalid("missing flavor")
	case p.Image == "":
		return model.Invalid("missing image")
	case p.OSType != model.Linux && p.OSType != model.Windows:
		return model.Invalid("invalid os_type %q: it must be linux or windows", p.OSType)
	case p.OSArch != model.AMD64 && p.OSArch != model.ARM64 && p.OSArch != model.ARM:
		return model.Invalid("invalid os_arch %q: it must be amd64, arm64 or arm", p.OSArch)
	case !slices.ContainsFunc(s.Providers, func(known Provider) bool { return known.Name == p.ProviderName }):
		return model.Invalid("no such provider %s", p.ProviderName)
	}
	return nil
}

// UpdatePool changes a pool. owner is as in Pool.
func (s *Service) UpdatePool(ctx context.Context, owner model.EntityID, id model.PoolID, u PoolUpdate) (PoolView, error) {
	if _, err := s.poolOf(ctx, owner, id); err != nil {
		return PoolView{}, err
	}
	specs, err := compactSpecs(u.ExtraSpecs)
	if err != nil {
		return PoolView{}, err
	}
	u.ExtraSpecs = specs
	pool, err := s.Store.UpdatePool(ctx, id, func(p *model.Pool) error { return u.apply(p) })
	if err != nil {
		return PoolView{}, err
	}
	return s.view(ctx, pool)
}

// apply changes a pool, and raises its generation where existing runners become outdated by it.
func (u PoolUpdate) apply(p *model.Pool) error {
	before := *p
	for _, text := range []struct {
		to   *string
		from string
	}{{&p.RunnerPrefix, u.RunnerPrefix}, {&p.Image, u.Image}, {&p.Flavor, u.Flavor}} {
		if text.from != "" {
			*text.to = text.from
		}
	}
	if u.OSType != "" {
		p.OSType = u.OSType
	}
	if u.OSArch != "" {
		p.OSArch = u.OSArch
	}
	if len(u.ExtraSpecs) > 0 {
		p.ExtraSpecs = u.ExtraSpecs
	}
	assign(&p.Enabled, u.Enabled)
	assign(&p.EnableShell, u.EnableShell)
	assign(&p.MaxRunners, u.MaxRunners)
	assign(&p.MinIdleRunners, u.MinIdleRunners)
	assign(&p.BootstrapTimeout, u.BootstrapTimeout)
	assign(&p.RunnerGroup, u.RunnerGroup)
	assign(&p.Priority, u.Priority)
	if len(u.Tags) > 0 && !sameTags(u.Tags, p.TagNames()) {
		p.Tags = NewTags(u.Tags)
	}
	if err := checkSize(*p); err != nil {
		return err
	}
	if p.MinIdleRunners > p.MaxRunners {
		return model.Invalid("min_idle_runners cannot be larger than max_runners")
	}
	if p.BootstrapTimeout == 0 {
		return model.Invalid("runner_bootstrap_timeout cannot be 0")
	}
	if before.Image != p.Image || before.Flavor != p.Flavor || before.OSType != p.OSType || before.OSArch != p.OSArch ||
		before.RunnerGroup != p.RunnerGroup || before.EnableShell != p.EnableShell || !bytes.Equal(before.ExtraSpecs, p.ExtraSpecs) {
		p.Generation++
	}
	return nil
}

// NewTags makes tags of names; the store gives them ids.
func NewTags(names []string) []model.Tag {
	tags := make([]model.Tag, len(names))
	for i, name := range names {
		tags[i] = model.Tag{Name: name}
	}
	return tags
}

// sameTags compares sets of tags without letter case.
func sameTags(a, b []string) bool {
	set := func(names []string) []string {
		lower := make([]string, len(names))
		for i, name := range names {
			lower[i] = strings.ToLower(name)
		}
		slices.Sort(lower)
		return slices.Compact(lower)
	}
	return slices.Equal(set(a), set(b))
}

// DeletePool removes a pool without instances. Where owner is empty, a missing pool is no error.
func (s *Service) DeletePool(ctx context.Context, owner model.EntityID, id model.PoolID) error {
	if owner != "" {
		if _, err := s.poolOf(ctx, owner, id); err != nil {
			return err
		}
	}
	return s.Store.DeletePool(ctx, id)
}

// compactSpecs brings extra specs to the form in which all servers show them: without blanks, and with <, > and & as
// escapes; key order and the spelling of numbers stay. A bare number is refused: it wedges older servers.
func compactSpecs(specs json.RawMessage) (json.RawMessage, error) {
	if len(specs) == 0 {
		return nil, nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, specs); err != nil {
		return nil, model.Invalid("invalid extra_specs: %v", err)
	}
	if first := compact.Bytes()[0]; first == '-' || first >= '0' && first <= '9' {
		return nil, model.Invalid("invalid extra_specs: a bare number is no configuration; use an object")
	}
	var escaped bytes.Buffer
	json.HTMLEscape(&escaped, compact.Bytes())
	return escaped.Bytes(), nil
}

// systemTemplate names the built-in install template of a forge and an operating system.
func systemTemplate(forge model.ForgeType, os model.OSType) (uint, string) {
	id := uint(1)
	if os == model.Windows {
		id = 2
	}
	return id, string(forge) + "_" + string(os)
}
