package rest

import (
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/service"
)

// wireInstance is an instance in a list: without addresses and messages.
func wireInstance(i model.Instance) garm.Instance {
	return garm.Instance{
		ID: string(i.ID), ProviderID: i.ProviderID, AgentID: i.AgentID, Name: i.Name, OSType: string(i.OSType), OSName: i.OSName, OSVersion: i.OSVersion,
		OSArch: string(i.OSArch), Status: garm.InstanceStatus(i.Status), RunnerStatus: garm.RunnerStatus(i.RunnerStatus), PoolID: string(i.PoolID),
		ProviderFault: i.ProviderFault, CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, RunnerGroup: i.RunnerGroup, ProviderName: i.ProviderName, Generation: i.Generation,
	}
}

func wireInstanceView(v service.InstanceView) garm.Instance {
	wire := wireInstance(v.Instance)
	for _, a := range v.Instance.Addresses {
		wire.Addresses = append(wire.Addresses, garm.Address{Address: a.Address, Type: a.Type})
	}
	for _, m := range v.Messages {
		wire.StatusMessages = append(wire.StatusMessages, garm.StatusMessage{CreatedAt: m.CreatedAt, Message: m.Message, EventType: m.Kind, EventLevel: string(m.Level)})
	}
	if v.Job != nil {
		wire.Job = new(wireJob(*v.Job))
	}
	return wire
}

func wireJob(j model.Job) garm.Job {
	wire := garm.Job{
		ID: int64(j.ID), WorkflowJobID: j.WorkflowJobID, RunID: j.RunID, Action: j.Action, Conclusion: j.Conclusion, Status: string(j.Status), Name: j.Name,
		StartedAt: j.StartedAt, CompletedAt: j.CompletedAt, RunnerID: j.RunnerID, RunnerName: j.RunnerName, RunnerGroupID: j.RunnerGroupID,
		RunnerGroupName: j.RunnerGroupName, RepositoryName: j.RepositoryName, RepositoryOwner: j.RepositoryOwner, WorkflowRunURL: j.WorkflowRunURL,
		Labels: j.Labels, LockedBy: string(j.LockedBy), CreatedAt: j.CreatedAt, UpdatedAt: j.UpdatedAt,
	}
	if j.LockedBy == "" {
		wire.LockedBy = uuid.Nil.String()
	}
	switch j.EntityKind {
	case model.KindRepository:
		wire.RepoID = string(j.EntityID)
	case model.KindOrganization:
		wire.OrgID = string(j.EntityID)
	case model.KindEnterprise:
		wire.EnterpriseID = string(j.EntityID)
	}
	return wire
}

func (s *Server) listInstances(w http.ResponseWriter, r *http.Request) {
	list, err := s.Service.Instances(r.Context())
	answerList(s, w, r, list, err, wireInstance)
}

func (s *Server) listPoolInstances(w http.ResponseWriter, r *http.Request) {
	id, err := poolID(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	list, err := s.Service.InstancesOfPool(r.Context(), id, flag(r, "outdatedOnly"))
	answerList(s, w, r, list, err, wireInstance)
}

func (s *Server) getInstance(w http.ResponseWriter, r *http.Request) {
	view, err := s.Service.Instance(r.Context(), r.PathValue("instance"))
	answer(s, w, r, view, err, wireInstanceView)
}

func (s *Server) deleteInstance(w http.ResponseWriter, r *http.Request) {
	s.answerDone(w, r, s.Service.DeleteInstance(r.Context(), r.PathValue("instance"), flag(r, "forceRemove"), flag(r, "bypassGHUnauthorized")))
}

// flag reads a switch of the query; what is no boolean counts as false.
func flag(r *http.Request, name string) bool {
	on, _ := strconv.ParseBool(r.URL.Query().Get(name))
	return on
}
