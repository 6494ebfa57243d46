package remote

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/garm-operator/garm-operator/garm"
)

// world is a server, the cache that watches it, and all that is under way between them.
type world struct {
	timed  bool
	clock  time.Time
	serial int
	server map[string]garm.Pool
	store  *store[garm.Pool]

	events []poolEvent
	lists  []poolList
	writes []poolWrite

	gone   map[string]bool
	newest map[string]time.Time
}

type poolEvent struct {
	op  garm.Operation
	obj garm.Pool
}

type poolList struct {
	start uint64
	read  bool
	objs  []garm.Pool
}

type poolWrite struct {
	start  uint64
	obj    garm.Pool
	delete bool
}

func newWorld(timed bool) *world {
	return &world{
		timed: timed, clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), server: map[string]garm.Pool{},
		store: newStore(poolTraits()), gone: map[string]bool{}, newest: map[string]time.Time{},
	}
}

// change creates or changes a pool at the server and puts the event on its way.
func (w *world) change(id string) garm.Pool {
	w.serial++
	w.clock = w.clock.Add(time.Millisecond)
	p, op := w.server[id], garm.OperationUpdate
	if p.ID == "" {
		op = garm.OperationCreate
	}
	p.ID, p.OrgID, p.Image = id, "org", fmt.Sprint(w.serial)
	if w.timed {
		p.UpdatedAt = w.clock
	}
	w.server[id] = p
	w.events = append(w.events, poolEvent{op, p})
	return p
}

func (w *world) remove(id string) {
	delete(w.server, id)
	w.events = append(w.events, poolEvent{garm.OperationDelete, garm.Pool{ID: id}})
}

func (w *world) snapshot() []garm.Pool {
	var all []garm.Pool
	for _, p := range w.server {
		all = append(all, p)
	}
	return all
}

// check fails if the cache brought back what it knew to be gone, or went back in time.
func (w *world) check(t *rapid.T) {
	held, _ := w.store.all()
	seen := map[string]bool{}
	for _, p := range held {
		seen[p.ID] = true
		if w.gone[p.ID] {
			t.Fatalf("%s is back after its deletion was known", p.ID)
		}
		if p.UpdatedAt.Before(w.newest[p.ID]) {
			t.Fatalf("%s went from %s back to %s", p.ID, w.newest[p.ID], p.UpdatedAt)
		}
		w.newest[p.ID] = p.UpdatedAt
	}
	for id := range w.newest {
		if !seen[id] {
			w.gone[id] = true
		}
	}
}

func pick[T any](t *rapid.T, from []T, label string) int {
	if len(from) == 0 {
		t.Skip("nothing to pick")
	}
	return rapid.IntRange(0, len(from)-1).Draw(t, label)
}

func (w *world) some(t *rapid.T) string {
	var ids []string
	for id := range w.server {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids[pick(t, ids, "pool")]
}

func (w *world) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"foreign create": func(*rapid.T) { w.change(fmt.Sprintf("p%d", w.serial)) },
		"foreign update": func(t *rapid.T) { w.change(w.some(t)) },
		"foreign delete": func(t *rapid.T) { w.remove(w.some(t)) },
		"own write": func(t *rapid.T) {
			start := w.store.begin()
			id := fmt.Sprintf("p%d", w.serial)
			if len(w.server) > 0 && rapid.Bool().Draw(t, "existing") {
				id = w.some(t)
			}
			w.writes = append(w.writes, poolWrite{start: start, obj: w.change(id)})
		},
		"own delete": func(t *rapid.T) {
			start, id := w.store.begin(), w.some(t)
			w.remove(id)
			w.writes = append(w.writes, poolWrite{start: start, obj: garm.Pool{ID: id}, delete: true})
		},
		"own answer": func(t *rapid.T) {
			i := pick(t, w.writes, "write")
			if a := w.writes[i]; a.delete {
				w.store.applyDelete(a.obj.ID, true)
			} else {
				w.store.applyObject(a.start, a.obj, fromWrite)
			}
			w.writes = slices.Delete(w.writes, i, i+1)
		},
		"event": func(t *rapid.T) {
			i := pick(t, w.events, "event")
			e := w.events[i]
			if !rapid.Bool().Draw(t, "again") {
				w.events = slices.Delete(w.events, i, i+1)
			}
			if e.op == garm.OperationDelete {
				w.store.applyDelete(e.obj.ID, false)
			} else {
				w.store.applyEvent(e.obj)
			}
		},
		"event is lost": func(t *rapid.T) {
			i := pick(t, w.events, "event")
			w.events = slices.Delete(w.events, i, i+1)
		},
		"list begins": func(t *rapid.T) {
			if len(w.lists) > 0 {
				t.Skip("one list at a time")
			}
			w.lists = []poolList{{start: w.store.begin()}}
		},
		"list is read": func(t *rapid.T) {
			i := pick(t, w.lists, "list")
			w.lists[i].read, w.lists[i].objs = true, w.snapshot()
		},
		"list arrives": func(t *rapid.T) {
			i := pick(t, w.lists, "list")
			if !w.lists[i].read {
				t.Skip("not read yet")
			}
			w.store.applyList(w.lists[i].start, w.lists[i].objs)
			w.lists = nil
		},
		"": w.check,
	}
}

// converges lists once more, with nothing under way, and compares.
func (w *world) converges(t *rapid.T) {
	w.store.applyList(w.store.begin(), w.snapshot())
	held, synced := w.store.all()
	want := w.snapshot()
	slices.SortFunc(want, func(a, b garm.Pool) int { return strings.Compare(a.ID, b.ID) })
	if diff := cmp.Diff(want, held, cmp.Transformer("empty", func(p []garm.Pool) []garm.Pool {
		if len(p) == 0 {
			return nil
		}
		return p
	})); diff != "" || !synced {
		t.Fatalf("after a list the cache differs from the server (-want +got):\n%s", diff)
	}
	w.check(t)
	for _, e := range w.events {
		if e.op == garm.OperationDelete {
			w.store.applyDelete(e.obj.ID, false)
		} else {
			w.store.applyEvent(e.obj)
		}
		w.check(t)
	}
}

// Whatever is lost, repeated, late or out of order, one list brings the cache to the server's state, nothing comes back
// from the dead and nothing goes back in time.
func TestStoreConverges(t *testing.T) {
	for _, timed := range []bool{true, false} {
		t.Run(fmt.Sprintf("timed=%t", timed), rapid.MakeCheck(func(t *rapid.T) {
			w := newWorld(timed)
			t.Repeat(w.actions())
			w.converges(t)
		}))
	}
}

// A list that was read before a deletion, of one's own or one that an event told, and arrives after it brings nothing
// back; the next one may.
func TestLateListBringsNothingBack(t *testing.T) {
	for name, own := range map[string]bool{"own deletion": true, "deletion that an event told": false} {
		t.Run(name, func(t *testing.T) {
			s := newStore(instanceTraits()) // their ids are final, so that events are believed
			i := garm.Instance{ID: "i", Name: "i", PoolID: "p", UpdatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
			s.applyList(s.begin(), []garm.Instance{i})
			start := s.begin()
			s.applyDelete(s.id(i), own)
			s.applyList(start, []garm.Instance{i})
			if held, _ := s.all(); len(held) != 0 {
				t.Errorf("it is back: %+v", held)
			}
			s.applyList(s.begin(), []garm.Instance{i})
			if held, _ := s.all(); len(held) != 1 {
				t.Error("a list that began later is not believed")
			}
		})
	}
}
