package service

import (
	"context"
	"strings"

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

const (
	// maxMessage bounds, in bytes, what is kept of a runner's message, and maxSystem of a name or version of its system.
	// They are shown with the instance, and a machine is trusted less than those who look at it.
	maxMessage = 4 << 10
	maxSystem  = 256
)

// cut returns the beginning of a text, at most so many bytes, and no half of a character.
func cut(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// ReportStatus records what the runner of an instance says about itself; i is as InstanceForToken has returned it. The
// message is kept even if the state is refused, since it tells what happened. An empty status changes no state.
func (s *Service) ReportStatus(ctx context.Context, i model.Instance, status model.RunnerStatus, message string, agentID int64) error {
	err := s.Store.AddInstanceMessage(ctx, i.ID, model.InstanceMessage{Kind: "status", Level: model.LevelInfo, Message: cut(message, maxMessage)})
	if err != nil {
		return err
	}
	return s.updateAttempt(ctx, i, func(row *model.Instance) error {
		if status != "" {
			if err := instance.SetRunner(row, instance.Runner, status); err != nil {
				return err
			}
		}
		return setAgent(row, agentID)
	})
}

// ReportSystem records where the runner of an instance runs; what is empty stays as it is. i is as in ReportStatus.
func (s *Service) ReportSystem(ctx context.Context, i model.Instance, osName, osVersion string, agentID int64) error {
	return s.updateAttempt(ctx, i, func(row *model.Instance) error {
		if osName != "" {
			row.OSName = cut(osName, maxSystem)
		}
		if osVersion != "" {
			row.OSVersion = cut(osVersion, maxSystem)
		}
		return setAgent(row, agentID)
	})
}

// updateAttempt changes the row of an instance unless it has come to another create attempt since i was read: what the
// machine of an earlier one says is not true of the next.
func (s *Service) updateAttempt(ctx context.Context, i model.Instance, update func(*model.Instance) error) error {
	_, err := s.Store.UpdateInstance(ctx, i.ID, func(row *model.Instance) error {
		if row.CreateAttempt != i.CreateAttempt {
			return model.Unauthorized("the token of the instance is void")
		}
		return update(row)
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
