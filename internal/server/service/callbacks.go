package service

import (
	"context"
	"slices"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// runnerMoves are the runner states that may follow each other. A runner that takes a job before it said that it is
// idle is no mistake, so active may follow at once.
var runnerMoves = map[model.RunnerStatus][]model.RunnerStatus{
	model.RunnerPending:    {model.RunnerInstalling, model.RunnerFailed, model.RunnerTerminated, model.RunnerActive},
	model.RunnerInstalling: {model.RunnerIdle, model.RunnerFailed, model.RunnerTerminated, model.RunnerActive, model.RunnerOffline},
	model.RunnerIdle:       {model.RunnerActive, model.RunnerOffline, model.RunnerTerminated},
	model.RunnerOffline:    {model.RunnerIdle, model.RunnerActive, model.RunnerTerminated},
	model.RunnerActive:     {model.RunnerTerminated},
	model.RunnerFailed:     {model.RunnerTerminated},
}

// RunnerMay says whether a runner may go from one state to another.
func RunnerMay(from, to model.RunnerStatus) bool {
	return from == to || slices.Contains(runnerMoves[from], to)
}

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
			if !RunnerMay(i.RunnerStatus, status) {
				return model.Invalid("invalid runner status transition from %s to %s", i.RunnerStatus, status)
			}
			i.RunnerStatus = status
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
