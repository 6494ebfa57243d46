package v1alpha1

import (
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

var _ conversion.Convertible = &Runner{}

// ConvertTo fills a v1beta1 Runner from this one. The error says that hub is of another type.
func (r *Runner) ConvertTo(hub conversion.Hub) error {
	to, err := as[*v1beta1.Runner](hub)
	if err != nil {
		return err
	}
	to.Spec, to.Status = r.said()
	to.ObjectMeta = restore(r.ObjectMeta, &to.Spec, &to.Status)
	r.overlay(to)
	return nil
}

// ConvertFrom fills this Runner from a v1beta1 one. The error says that hub is of another type, or cannot be written as JSON.
func (r *Runner) ConvertFrom(hub conversion.Hub) error {
	from, err := as[*v1beta1.Runner](hub)
	if err != nil {
		return err
	}
	s := &from.Status
	r.Spec = RunnerSpec{}
	r.Status = RunnerStatus{
		ID: s.ID, ProviderID: s.ProviderID, AgentID: s.AgentID, Name: s.Name,
		OSType: s.OSType, OSName: s.OSName, OSVersion: s.OSVersion, OSArch: s.OSArch,
		Status: s.Status, InstanceStatus: s.InstanceStatus, PoolID: s.PoolID,
		ProviderFault: s.ProviderFault, GitHubRunnerGroup: s.GitHubRunnerGroup,
	}
	for _, a := range s.Addresses {
		r.Status.Addresses = append(r.Status.Addresses, RunnerAddress{Address: a.Address, Type: a.Type})
	}
	spec, status := r.said()
	r.ObjectMeta, err = keep(from.ObjectMeta, from.Spec, spec, from.Status, status)
	return err
}

// said returns what this Runner becomes without an annotation.
func (r *Runner) said() (v1beta1.RunnerSpec, v1beta1.RunnerStatus) {
	hub := &v1beta1.Runner{}
	r.overlay(hub)
	return hub.Spec, hub.Status
}

// overlay puts what this Runner says over hub, and leaves the rest of it as it is.
func (r *Runner) overlay(hub *v1beta1.Runner) {
	s, to := &r.Status, &hub.Status
	to.ID, to.ProviderID, to.AgentID, to.Name = s.ID, s.ProviderID, s.AgentID, s.Name
	to.OSType, to.OSName, to.OSVersion, to.OSArch = s.OSType, s.OSName, s.OSVersion, s.OSArch
	to.Status, to.InstanceStatus, to.PoolID = s.Status, s.InstanceStatus, s.PoolID
	to.ProviderFault, to.GitHubRunnerGroup = s.ProviderFault, s.GitHubRunnerGroup
	to.Addresses = nil
	for _, a := range s.Addresses {
		to.Addresses = append(to.Addresses, v1beta1.RunnerAddress{Address: a.Address, Type: a.Type})
	}
}
