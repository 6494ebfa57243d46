package remote_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/remote/remotetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSessionOutlivesItsServer(t *testing.T) {
	t.Run("OP-50 starts while the server is down and goes on when it is up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			server.SetFault(func(op string) error { return remotetest.Error(op, 0) })
			session := run(t, server, remote.Options{})
			sub := session.Subscribe(remote.KindPool)
			if s := session.State(); s.Phase != remote.PhaseDown || s.Reason != remote.ReasonUnreachable || session.View() != nil {
				t.Fatalf("state is %+v", s)
			}
			pass(30 * time.Second)
			server.SetFault(nil)
			pass(15 * time.Second)
			if s := session.State(); !s.Ready() || !session.View().Synced() {
				t.Fatalf("15 s after the server came up the state is %+v", s)
			}
			if n := drain(t, sub); len(n) == 0 || !n[0].Resync() {
				t.Errorf("whoever waits for the server is told %v", n)
			}
		})
	})
	t.Run("keeps what it knows while the server is down", func(t *testing.T) {
		for status, reason := range map[int]string{0: remote.ReasonUnreachable, 500: remote.ReasonServerError, 401: remote.ReasonUnauthorized} {
			synctest.Test(t, func(t *testing.T) {
				server := remotetest.NewServer()
				populate(t, server, 3, 5)
				session := run(t, server, remote.Options{})
				server.SetFault(func(op string) error { return remotetest.Error(op, status) })
				server.DropStreams()
				pass(time.Minute)
				if s := session.State(); s.Phase != remote.PhaseDown || s.Reason != reason {
					t.Fatalf("on status %d the state is %+v", status, s)
				}
				if pools, synced := session.View().Pools(); len(pools) != 3 || !synced {
					t.Errorf("on status %d %d pools are known, synced %t", status, len(pools), synced)
				}
				server.SetFault(nil)
				pass(time.Minute)
				if !session.State().Ready() {
					t.Errorf("after status %d the session does not come back", status)
				}
			})
		}
	})
}

func TestSessionBacksOff(t *testing.T) {
	t.Run("OP-49 a wrong password is not tried in a loop", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			server.SetFault(func(op string) error { return remotetest.Error(op, 401) })
			session := run(t, server, remote.Options{})
			pass(10 * time.Minute)
			if n := server.Requests(); n > 30 {
				t.Errorf("%d tries in ten minutes", n)
			}
			if r := session.State().Reason; r != remote.ReasonUnauthorized {
				t.Errorf("reason is %q", r)
			}
		})
	})
}

func TestNewControllerID(t *testing.T) {
	t.Run("OP-14 nothing of a lost database is believed any more", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			org := populate(t, server, 2, 2)
			session := run(t, server, remote.Options{})
			sub := session.Subscribe(remote.KindOrganization)
			old := session.View()
			drain(t, sub)

			server.Reset()
			pass(5 * time.Second)

			view := session.View()
			if view == old || view.Identity().ControllerID != server.ControllerID() || view.Identity() == old.Identity() {
				t.Fatalf("the view is still that of %s", view.Identity())
			}
			if _, found, synced := view.Organization(org); found || !synced {
				t.Errorf("the new view: found %t, synced %t", found, synced)
			}
			if _, found, synced := old.Organization(org); found || synced {
				t.Errorf("the old view: found %t, synced %t", found, synced)
			}
			if _, err := old.Writer().CreatePool(t.Context(), remote.Scope{Kind: remote.KindOrganization, ID: org}, garm.CreatePoolParams{}); !errors.Is(err, remote.ErrStaleView) {
				t.Errorf("the old writer says %v", err)
			}
			if _, err := old.ConfirmGone(t.Context(), remote.KindOrganization, org); !errors.Is(err, remote.ErrStaleView) {
				t.Errorf("the old view confirms: %v", err)
			}
			if n := drain(t, sub); len(n) == 0 || !n[0].Resync() {
				t.Errorf("subscribers are told %v", n)
			}
		})
	})
}

func TestLeaderOnly(t *testing.T) {
	t.Run("OP-42 nothing is asked before the start, nothing runs after the end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			session := remote.New(server, remote.Options{Server: "main"})
			sub := session.Subscribe(remote.KindInstance)
			defer sub.Close()
			pass(time.Hour)
			if n := server.Requests(); n != 0 || !session.NeedLeaderElection() {
				t.Errorf("a standby made %d requests", n)
			}
		})
	})
}

func TestURLsRequired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := remotetest.NewServer()
		server.RequireURLs()
		session := run(t, server, remote.Options{})
		if s := session.State(); s.Phase != remote.PhaseURLsRequired || !s.Connected() || s.Controller.Version != "v0.2.1" {
			t.Fatalf("state is %+v", s)
		}
		writer := session.View().Writer()
		if _, err := writer.CreateEndpoint(t.Context(), garm.CreateEndpointParams{Name: "e"}); !errors.Is(err, remote.ErrNotReady) {
			t.Errorf("an endpoint cannot be made yet, but the answer is %v", err)
		}
		url := "https://garm.example.com"
		if _, err := writer.UpdateController(t.Context(), garm.UpdateControllerParams{MetadataURL: &url}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s := session.State(); !s.Ready() || s.Controller.MetadataURL != url {
			t.Errorf("right after the URLs were set the state is %+v", s)
		}
	})
}

// A change of the controller is seen at once by who made it, whatever look at the controller is under way.
func TestControllerAfterAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := remotetest.NewServer()
		session := run(t, server, remote.Options{})
		server.SetDelay(func(op string) time.Duration {
			if op == "GetController" {
				return time.Second
			}
			return 0
		})
		for i := range 3 {
			session.Poke()
			pass(time.Duration(i) * 400 * time.Millisecond)
			url := fmt.Sprintf("https://garm-%d.example.com", i)
			if _, err := session.View().Writer().UpdateController(t.Context(), garm.UpdateControllerParams{MetadataURL: &url}); err != nil {
				t.Fatal(err)
			}
			for range 4 {
				if have := session.State().Controller; have.MetadataURL != url || have.Version == "" {
					t.Fatalf("after the change to %s the controller is %+v", url, have)
				}
				pass(500 * time.Millisecond)
			}
		}
	})
}

func TestUnsupportedVersion(t *testing.T) {
	tests := []struct {
		version string
		ready   bool
		why     string
	}{
		{"v0.1.4", false, "before the endpoint routes"},
		{"v0.1.5", true, "the minimum"},
		{"0.1.5", true, "without the v"},
		{"v0.1.5-rc1", true, "counts as the release it leads to"},
		{"v0.1.6-rc1", true, "a pre-release"},
		{"v0.2.1-5-gabc", true, "a build between releases"},
		{"v1.0.0", true, "newer than any known"},
		{"dev", true, "no version at all"},
		{"", true, "none said"},
	}
	for _, tt := range tests {
		t.Run(tt.version+" "+tt.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := remotetest.NewServer()
				server.SetVersion(tt.version)
				session := run(t, server, remote.Options{})
				if s := session.State(); s.Ready() != tt.ready || (!tt.ready && s.Reason != remote.ReasonUnsupportedVersion) {
					t.Errorf("state is %+v", s)
				}
			})
		})
	}
}
