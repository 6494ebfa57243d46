package garm

import (
	"context"
	"errors"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/auth"
	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/service"
)

// parts are what the fleet engine gives to the rest of the server.
type parts struct {
	engine service.Engine
	forges service.Forges
	notify func(...model.Change)
	run    func(context.Context) error
}

// idle is an engine that makes no runners.
type idle struct{}

var errIdle = errors.New("the server makes no runners")

func (idle) Health(model.EntityID) model.EntityHealth { return model.EntityHealth{Running: true} }

func (idle) DeleteInstance(context.Context, model.InstanceID, bool, bool) error { return errIdle }

func (idle) RegistrationToken(context.Context, model.Entity) (string, time.Time, error) {
	return "", time.Time{}, errIdle
}

func (idle) Tools(context.Context, model.Entity) (string, []service.Tool, error) {
	return "", nil, errIdle
}

func (s *Server) fleet(Options, *auth.Tokens) (parts, error) {
	return parts{engine: idle{}, forges: idle{}, notify: func(...model.Change) {}, run: func(ctx context.Context) error { <-ctx.Done(); return nil }}, nil
}
