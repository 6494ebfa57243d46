package service

import (
	"cmp"
	"context"
	"strings"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// NewEntity is what an entity is made of. WebhookSecret is a secret.
type NewEntity struct {
	Kind                         model.EntityKind
	Owner, Name, CredentialsName string
	WebhookSecret                string
	Balancer                     model.Balancer
	ForgeType                    model.ForgeType
	AgentMode                    bool
}

// String keeps the secret out of logs.
func (NewEntity) String() string { return "[redacted]" }

// GoString keeps the secret out of logs.
func (NewEntity) GoString() string { return "[redacted]" }

// EntityUpdate is a change of an entity; an empty field stays as it is. WebhookSecret is a secret.
type EntityUpdate struct {
	CredentialsName, WebhookSecret string
	Balancer                       model.Balancer
	AgentMode                      *bool
}

// String keeps the secret out of logs.
func (EntityUpdate) String() string { return "[redacted]" }

// GoString keeps the secret out of logs.
func (EntityUpdate) GoString() string { return "[redacted]" }

// EntityFilter selects entities; an empty field selects all. Letter case does not count. Owner is for repositories alone.
type EntityFilter struct{ Owner, Name, Endpoint string }

func (f EntityFilter) matches(e model.Entity) bool {
	fits := func(want, got string) bool { return want == "" || strings.EqualFold(want, got) }
	return (e.Kind != model.KindRepository || fits(f.Owner, e.Owner)) && fits(f.Name, e.Name) && fits(f.Endpoint, string(e.Endpoint().Name))
}

// EntityView is an entity with its pools and its history.
type EntityView struct {
	Entity model.Entity
	Pools  []model.Pool
	Events []model.EntityEvent
}

// Health is what the engine saw last of an entity.
func (s *Service) Health(id model.EntityID) model.EntityHealth { return s.Engine.Health(id) }

// Entities returns the entities of a kind that a filter selects.
func (s *Service) Entities(ctx context.Context, kind model.EntityKind, filter EntityFilter) ([]model.Entity, error) {
	all, err := s.Store.EntitiesOfKind(ctx, kind)
	if err != nil {
		return nil, err
	}
	var selected []model.Entity
	for _, e := range all {
		if filter.matches(e) {
			selected = append(selected, e)
		}
	}
	return selected, nil
}

// Entity returns an entity by id, which has to be of a kind.
func (s *Service) Entity(ctx context.Context, kind model.EntityKind, id model.EntityID) (model.Entity, error) {
	e, err := s.Store.Entity(ctx, id)
	if err != nil && !model.IsNotFound(err) {
		return e, err
	}
	if err != nil || e.Kind != kind {
		return model.Entity{}, model.NotFound("%s not found", kind)
	}
	return e, nil
}

// EntityView returns an entity with its pools and its history.
func (s *Service) EntityView(ctx context.Context, kind model.EntityKind, id model.EntityID) (view EntityView, err error) {
	if view.Entity, err = s.Entity(ctx, kind, id); err != nil {
		return view, err
	}
	if view.Pools, err = s.Store.PoolsOfEntity(ctx, id); err != nil {
		return view, err
	}
	view.Events, err = s.Store.EntityEvents(ctx, id)
	return view, err
}

// maxName bounds the names of entities, far above the hundred characters that GitHub allows.
const maxName = 255

// checkName refuses what no forge can have, and what would lead a call to another path.
func checkName(field, name string) error {
	switch {
	case name == "." || name == "..":
		return model.Invalid("%s cannot be %q", field, name)
	case len(name) > maxName:
		return model.Invalid("%s cannot be longer than %d bytes", field, maxName)
	}
	return nil
}

// CreateEntity adds an entity.
func (s *Service) CreateEntity(ctx context.Context, n NewEntity) (model.Entity, error) {
	switch {
	case n.Kind == model.KindRepository && n.Owner == "":
		return model.Entity{}, model.Invalid("missing owner")
	case n.Name == "":
		return model.Entity{}, model.Invalid("missing %s name", n.Kind)
	case n.CredentialsName == "":
		return model.Entity{}, model.Invalid("missing credentials_name")
	case n.WebhookSecret == "":
		return model.Entity{}, model.Invalid("missing secret: webhook_secret is needed")
	}
	if err := cmp.Or(checkName("owner", n.Owner), checkName("name", n.Name), checkBalancer(n.Balancer)); err != nil {
		return model.Entity{}, err
	}
	if n.ForgeType != "" && n.ForgeType != model.ForgeGitHub {
		return model.Entity{}, model.Invalid("invalid forge_type: this server knows github only")
	}
	credentials, err := s.Store.CredentialsByName(ctx, n.CredentialsName, n.ForgeType)
	if model.IsNotFound(err) {
		return model.Entity{}, model.Invalid("credentials %s not defined", n.CredentialsName)
	}
	if err != nil {
		return model.Entity{}, err
	}
	e := model.Entity{Kind: n.Kind, Name: n.Name, Credentials: credentials, Balancer: n.Balancer, AgentMode: n.AgentMode}
	if n.Kind == model.KindRepository {
		e.Owner = n.Owner
	}
	return s.Store.CreateEntity(ctx, e, []byte(n.WebhookSecret))
}

// UpdateEntity changes an entity.
func (s *Service) UpdateEntity(ctx context.Context, kind model.EntityKind, id model.EntityID, u EntityUpdate) (model.Entity, error) {
	current, err := s.Entity(ctx, kind, id)
	if err != nil {
		return model.Entity{}, err
	}
	if err := checkBalancer(u.Balancer); err != nil {
		return model.Entity{}, err
	}
	var credentials *model.Credentials
	if u.CredentialsName != "" {
		found, err := s.Store.CredentialsByName(ctx, u.CredentialsName, current.Endpoint().Type)
		if err != nil {
			return model.Entity{}, err
		}
		credentials = &found
	}
	rotated := false
	updated, err := s.Store.UpdateEntity(ctx, id, func(e *model.Entity, webhook *model.WebhookState) error {
		if credentials != nil {
			if credentials.Endpoint.Name != e.Endpoint().Name {
				return model.Invalid("endpoint mismatch: the credentials %s are for %s, the %s is at %s", credentials.Name, credentials.Endpoint.Name, kind, e.Endpoint().Name)
			}
			e.Credentials = *credentials
		}
		if u.Balancer != "" {
			e.Balancer = u.Balancer
		}
		if u.WebhookSecret != "" {
			rotated = webhook.Rotate([]byte(u.WebhookSecret), s.managed(*e))
		}
		assign(&e.AgentMode, u.AgentMode)
		return nil
	})
	if err == nil && rotated {
		s.passOnSecret(ctx, updated)
	}
	return updated, err
}

// DeleteEntity removes an entity that has no pools, and its webhook with it where the server manages webhooks.
func (s *Service) DeleteEntity(ctx context.Context, kind model.EntityKind, id model.EntityID, keepWebhook bool) error {
	e, err := s.Entity(ctx, kind, id)
	if err != nil {
		return err
	}
	if err := s.Store.DeleteEntity(ctx, id); err != nil {
		return err
	}
	if !keepWebhook {
		s.dropWebhook(ctx, e)
	}
	return nil
}

func checkBalancer(b model.Balancer) error {
	switch b {
	case "", model.BalanceRoundRobin, model.BalancePack:
		return nil
	}
	return model.Invalid("invalid pool balancer type: %s; it must be roundrobin or pack", b)
}
