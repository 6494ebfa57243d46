package service

import (
	"context"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/model/instance"
)

// InstanceForToken returns the instance of a token, if the token is good: it is of the current create attempt, and the
// runner is still being set up.
func (s *Service) InstanceForToken(ctx context.Context, id model.InstanceID, attempt int) (model.Instance, error) {
	i, err := s.Store.Instance(ctx, id)
	if model.IsNotFound(err) {
		return i, model.Unauthorized("there is no such instance")
	}
	if err != nil {
		return i, err
	}
	alive := i.Status == model.InstanceCreating || i.Status == model.InstanceRunning
	bootstrapping := i.RunnerStatus == model.RunnerPending || i.RunnerStatus == model.RunnerInstalling
	if !alive || !bootstrapping || i.CreateAttempt != attempt {
		return i, model.Unauthorized("the token of the instance is void")
	}
	return i, nil
}

// ReportStatus records what a runner says about itself. The message is kept even if the state is refused, since it
// tells what happened. An empty status changes no state.
func (s *Service) ReportStatus(ctx context.Context, id model.InstanceID, status model.RunnerStatus, message string, agentID int64) error {
	err := s.Store.AddInstanceMessage(ctx, id, model.InstanceMessage{Kind: "status", Level: model.LevelInfo, Message: message})
	if err != nil {
		return err
	}
	_, err = s.Store.UpdateInstance(ctx, id, func(i *model.Instance) error {
		if status != "" {
			if err := instance.SetRunner(i, instance.Runner, status); err != nil {
				return err
			}
		}
		return setAgent(i, agentID)
	})
	return err
}

// ReportSystem records where a runner runs; what is empty stays as it is.
func (s *Service) ReportSystem(ctx context.Context, id model.InstanceID, osName, osVersion string, agentID int64) error {
	_, err := s.Store.UpdateInstance(ctx, id, func(i *model.Instance) error {
		if osName != "" {
			i.OSName = osName
		}
		if osVersion != "" {
			i.OSVersion = osVersion
		}
		return setAgent(i, agentID)
	})
	return err
}

func setAgent(i *model.Instance, agentID int64) error {
	if agentID == 0 {
		return nil
	}
	if i.AgentID != 0 && i.AgentID != agentID {
		return model.Invalid("agent ID mismatch: the runner has %d", i.AgentID)
	}
	i.AgentID = agentID
	return nil
}
