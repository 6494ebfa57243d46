package pool

import (
	"encoding/json"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
)

func createParams(spec v1beta1.PoolSpec, s shape) garm.CreatePoolParams {
	return garm.CreatePoolParams{
		RunnerPrefix: spec.RunnerPrefix, ProviderName: s.Provider, MaxRunners: s.Max, MinIdleRunners: s.Min, Image: s.Image, Flavor: s.Flavor,
		OSType: s.OSType, OSArch: s.OSArch, Tags: spec.Tags, Enabled: s.Enabled, RunnerBootstrapTimeout: s.Timeout,
		ExtraSpecs: extraSpecs(spec, s), RunnerGroup: s.Group,
		Priority: *orDefault(s.Priority, new(uint)),
	}
}

// extraSpecs returns what the user wrote, or nothing.
func extraSpecs(spec v1beta1.PoolSpec, s shape) json.RawMessage {
	if s.Extra == "" {
		return nil
	}
	return json.RawMessage(spec.ExtraSpecs)
}

// updateParams sends the fields that differ, and what clears a field where leaving it out would not.
func updateParams(spec v1beta1.PoolSpec, s shape, fields []string) garm.UpdatePoolParams {
	var p garm.UpdatePoolParams
	for _, f := range fields {
		switch f {
		case fieldPrefix:
			p.RunnerPrefix = s.Prefix
		case fieldMax, fieldMin:
			p.MaxRunners, p.MinIdleRunners = &s.Max, &s.Min
		case fieldImage:
			p.Image = s.Image
		case fieldFlavor:
			p.Flavor = s.Flavor
		case fieldOSType:
			p.OSType = s.OSType
		case fieldOSArch:
			p.OSArch = s.OSArch
		case fieldTags:
			p.Tags = spec.Tags
		case fieldEnabled:
			p.Enabled = &s.Enabled
		case fieldTimeout:
			p.RunnerBootstrapTimeout = &s.Timeout
		case fieldGroup:
			p.RunnerGroup = &s.Group
		case fieldRank:
			p.Priority = s.Priority
		case fieldExtra:
			if p.ExtraSpecs = extraSpecs(spec, s); p.ExtraSpecs == nil {
				p.ExtraSpecs = json.RawMessage("{}")
			}
		}
	}
	return p
}
