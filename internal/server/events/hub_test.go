package events_test

import (
	"sync"
	"testing"

	"github.com/garm-operator/garm-operator/internal/server/events"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

func change(n int) model.Change {
	return model.Change{Operation: model.OpUpdate, Object: model.Job{ID: model.JobID(n)}}
}

func TestEveryReaderSeesTheOrder(t *testing.T) {
	const changes, readers = 1000, 10
	hub := events.NewHub()
	var all sync.WaitGroup
	for range readers {
		s := hub.Subscribe(changes)
		all.Go(func() {
			defer s.Close()
			for n := range changes {
				if got := (<-s.Changes()).Object.(model.Job).ID; got != model.JobID(n) {
					t.Errorf("change %d is %d", n, got)
					return
				}
			}
		})
	}
	for n := range changes {
		hub.Publish(change(n))
	}
	all.Wait()
}

func TestSlowReaderIsEndedNotSkipped(t *testing.T) {
	hub := events.NewHub()
	slow, quick := hub.Subscribe(2), hub.Subscribe(10)
	for n := range 5 {
		hub.Publish(change(n))
	}
	var seen []model.JobID
	for c := range slow.Changes() { // ends, because the queue is closed
		seen = append(seen, c.Object.(model.Job).ID)
	}
	if len(seen) != 2 || seen[0] != 0 || seen[1] != 1 {
		t.Errorf("the slow reader saw %v before its end", seen)
	}
	if len(quick.Changes()) != 5 {
		t.Errorf("the other reader has %d changes", len(quick.Changes()))
	}
	slow.Close()
	hub.Close()
	if _, open := <-hub.Subscribe(1).Changes(); open {
		t.Error("a hub that is closed takes a reader")
	}
}
