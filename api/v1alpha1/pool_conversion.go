package v1alpha1

import (
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

var _ conversion.Convertible = &Pool{}

// ConvertTo fills a v1beta1 Pool from this one. The error says that hub is of another type.
func (p *Pool) ConvertTo(hub conversion.Hub) error {
	to, err := as[*v1beta1.Pool](hub)
	if err != nil {
		return err
	}
	to.Spec, to.Status = p.said()
	to.ObjectMeta = restore(p.ObjectMeta, &to.Spec, &to.Status)
	p.overlay(to)
	return nil
}

// ConvertFrom fills this Pool from a v1beta1 one. The error says that hub is of another type, or cannot be written as JSON.
func (p *Pool) ConvertFrom(hub conversion.Hub) error {
	from, err := as[*v1beta1.Pool](hub)
	if err != nil {
		return err
	}
	s := &from.Spec
	p.Spec = PoolSpec{
		GitHubScopeRef: TypedLocalObjectReference{
			APIGroup: s.GitHubScopeRef.APIGroup, Kind: s.GitHubScopeRef.Kind, Name: s.GitHubScopeRef.Name,
		},
		ProviderName: s.ProviderName, MaxRunners: s.MaxRunners, MinIdleRunners: s.MinIdleRunners, Flavor: s.Flavor,
		OSType: string(s.OSType), OSArch: string(s.OSArch), Tags: s.Tags, Enabled: s.Enabled,
		RunnerBootstrapTimeout: s.RunnerBootstrapTimeout, ImageName: s.ImageName, ExtraSpecs: s.ExtraSpecs,
		GitHubRunnerGroup: s.GitHubRunnerGroup, RunnerPrefix: s.RunnerPrefix,
	}
	p.Status = PoolStatus{
		ID: from.Status.ID, LongRunningIdleRunners: from.Status.LongRunningIdleRunners, Selector: from.Status.Selector,
		Conditions: from.Status.Conditions,
	}
	spec, status := p.said()
	p.ObjectMeta, err = keep(from.ObjectMeta, from.Spec, spec, from.Status, status)
	return err
}

// said returns what this Pool becomes without an annotation.
func (p *Pool) said() (v1beta1.PoolSpec, v1beta1.PoolStatus) {
	hub := &v1beta1.Pool{}
	p.overlay(hub)
	return hub.Spec, hub.Status
}

// overlay puts what this Pool says over hub, and leaves the rest of it as it is.
func (p *Pool) overlay(hub *v1beta1.Pool) {
	s, to := &p.Spec, &hub.Spec
	to.GitHubScopeRef.APIGroup = s.GitHubScopeRef.APIGroup
	to.GitHubScopeRef.Kind, to.GitHubScopeRef.Name = s.GitHubScopeRef.Kind, s.GitHubScopeRef.Name
	to.ProviderName, to.MaxRunners, to.MinIdleRunners, to.Flavor = s.ProviderName, s.MaxRunners, s.MinIdleRunners, s.Flavor
	to.OSType, to.OSArch = v1beta1.OSType(s.OSType), v1beta1.OSArch(s.OSArch)
	to.Tags, to.Enabled, to.RunnerBootstrapTimeout = s.Tags, s.Enabled, s.RunnerBootstrapTimeout
	to.ImageName, to.ExtraSpecs = s.ImageName, s.ExtraSpecs
	to.GitHubRunnerGroup, to.RunnerPrefix = s.GitHubRunnerGroup, s.RunnerPrefix
	hub.Status.ID, hub.Status.LongRunningIdleRunners = p.Status.ID, p.Status.LongRunningIdleRunners
	hub.Status.Selector, hub.Status.Conditions = p.Status.Selector, p.Status.Conditions
}
