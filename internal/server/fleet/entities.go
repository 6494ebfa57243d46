package fleet

import (
	"sync"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// entityState is what the engine remembers of an entity: nothing that it could not find out anew.
type entityState struct {
	credentials model.CredentialsID
	endpoint    model.EndpointName
	health      model.EntityHealth
	tools       []Tool
	toolsDue    time.Time
	sweepDue    time.Time
	failures    int
	suspects    suspects
	// cursor is where round robin goes on.
	cursor int
}

// entities is the memory of the engine about all entities.
type entities struct {
	mu sync.Mutex
	by map[model.EntityID]*entityState
}

// with runs do on the state of an entity, under the lock: do must not block.
func (m *entities) with(id model.EntityID, do func(s *entityState)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.by[id]
	if s == nil {
		if m.by == nil {
			m.by = map[model.EntityID]*entityState{}
		}
		s = &entityState{health: model.EntityHealth{FailureReason: "the entity has not been looked at yet"}}
		m.by[id] = s
	}
	do(s)
}

func (m *entities) forget(id model.EntityID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.by, id)
}

func (m *entities) health(id model.EntityID) model.EntityHealth {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.by[id]; s != nil {
		return s.health
	}
	return model.EntityHealth{FailureReason: "the entity has not been looked at yet"}
}

// tools returns the downloads of a healthy entity.
func (m *entities) tools(id model.EntityID) ([]Tool, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.by[id]
	if s == nil || !s.health.Running {
		return nil, false
	}
	return s.tools, true
}

// refresh makes the entities that match look at their forge again, at once.
func (m *entities) refresh(match func(s *entityState) bool, wake func(model.EntityID)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, s := range m.by {
		if match(s) {
			s.toolsDue, s.failures = time.Time{}, 0
			wake(id)
		}
	}
}
