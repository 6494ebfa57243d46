// Package forgetest has a forge in memory, for tests of what uses one.
package forgetest

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Forge is a forge with one set of runners. Its zero value works. It is a fleet.Forge for every entity.
type Forge struct {
	// Fail, when set, is asked before each call, under the lock of the forge; an error of it is the answer. op is the name
	// of the method. While the forge is in use, fields are changed by Do.
	Fail func(op string) error
	// Hidden names runners that lists leave out although they exist.
	Hidden map[string]bool

	mu      sync.Mutex
	runners map[int64]fleet.Runner
	last    int64
	calls   map[string]int
	groups  []string
	removed []string
}

var (
	_ fleet.Forge  = (*Forge)(nil)
	_ fleet.Forges = (*Forge)(nil)
)

// Forge implements fleet.Forges.
func (f *Forge) Forge(context.Context, model.Entity) (fleet.Forge, error) { return f, nil }

// Error makes an error of a kind.
func Error(kind fleet.ForgeErrorKind) error {
	return &fleet.ForgeError{Kind: kind, Op: "asking the test forge", Err: errors.New("it was told to fail")}
}

// RateLimited makes the error of a rate limit.
func RateLimited(until time.Time) error {
	return &fleet.ForgeError{Kind: fleet.ForgeRateLimited, Op: "asking the test forge", Until: until, Err: errors.New("rate limit")}
}

// Calls says how often a method was called.
func (f *Forge) Calls(op string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

// AllCalls is the number of all calls.
func (f *Forge) AllCalls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, c := range f.calls {
		n += c
	}
	return n
}

// Add registers a runner and returns its id.
func (f *Forge) Add(r fleet.Runner) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.add(r).ID
}

func (f *Forge) add(r fleet.Runner) fleet.Runner {
	f.last++
	r.ID = f.last
	if f.runners == nil {
		f.runners = map[int64]fleet.Runner{}
	}
	f.runners[r.ID] = r
	return r
}

// Change changes the runner of that name; it does nothing where there is none.
func (f *Forge) Change(name string, change func(*fleet.Runner)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, r := range f.runners {
		if r.Name == name {
			change(&r)
			f.runners[id] = r
		}
	}
}

// Drop makes the runner of that name disappear.
func (f *Forge) Drop(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.runners, func(_ int64, r fleet.Runner) bool { return r.Name == name })
}

// All returns the runners, the oldest first.
func (f *Forge) All() []fleet.Runner {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all()
}

func (f *Forge) all() []fleet.Runner {
	return slices.SortedFunc(maps.Values(f.runners), func(a, b fleet.Runner) int { return cmp.Compare(a.ID, b.ID) })
}

// Removed returns the names of the runners that were removed, in order.
func (f *Forge) Removed() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.removed)
}

// call counts a call and returns with the lock held, or fails without.
func (f *Forge) call(op string) error {
	f.mu.Lock()
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	f.calls[op]++
	if f.Fail != nil {
		if err := f.Fail(op); err != nil {
			f.mu.Unlock()
			return err
		}
	}
	return nil
}

// Do runs change while nobody uses the forge.
func (f *Forge) Do(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// Tools implements fleet.Forge.
func (f *Forge) Tools(context.Context) ([]fleet.Tool, error) {
	if err := f.call("Tools"); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	return []fleet.Tool{{OS: "linux", Architecture: "x64", DownloadURL: "https://forge.test/runner.tgz", Filename: "runner.tgz"}}, nil
}

// Runners implements fleet.Forge.
func (f *Forge) Runners(context.Context) ([]fleet.Runner, error) {
	if err := f.call("Runners"); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	return slices.DeleteFunc(f.all(), func(r fleet.Runner) bool { return f.Hidden[r.Name] }), nil
}

// Runner implements fleet.Forge.
func (f *Forge) Runner(_ context.Context, id int64) (fleet.Runner, error) {
	if err := f.call("Runner"); err != nil {
		return fleet.Runner{}, err
	}
	defer f.mu.Unlock()
	r, ok := f.runners[id]
	if !ok {
		return r, Error(fleet.ForgeNotFound)
	}
	return r, nil
}

// RemoveRunner implements fleet.Forge.
func (f *Forge) RemoveRunner(_ context.Context, id int64) error {
	if err := f.call("RemoveRunner"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	r, ok := f.runners[id]
	if !ok {
		return nil
	}
	if r.Busy {
		return Error(fleet.ForgeBusy)
	}
	delete(f.runners, id)
	f.removed = append(f.removed, r.Name)
	return nil
}

// JITConfig implements fleet.Forge.
func (f *Forge) JITConfig(_ context.Context, name, group string, labels []string) (fleet.Runner, model.JITConfig, error) {
	if err := f.call("JITConfig"); err != nil {
		return fleet.Runner{}, nil, err
	}
	defer f.mu.Unlock()
	for _, r := range f.runners {
		if r.Name == name {
			return fleet.Runner{}, nil, Error(fleet.ForgeConflict)
		}
	}
	f.groups = append(f.groups, group)
	return f.add(fleet.Runner{Name: name, Labels: labels}), model.JITConfig{".runner": []byte("{}")}, nil
}

// RegistrationToken implements fleet.Forge.
func (f *Forge) RegistrationToken(context.Context) (string, time.Time, error) {
	if err := f.call("RegistrationToken"); err != nil {
		return "", time.Time{}, err
	}
	defer f.mu.Unlock()
	return "registration-token", time.Now().Add(time.Hour), nil
}

// URL implements fleet.Forge.
func (f *Forge) URL() string { return "https://forge.test/org" }
