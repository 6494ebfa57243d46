package storetest

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// together runs do many times at once.
func together(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

func testReserve(t *testing.T, f *fixture) {
	const callers, limit = 50, 10
	ctx := t.Context()
	p := f.pool(t, f.entity(t, "widgets"), limit)
	together(callers, func(i int) {
		_, err := f.ReserveInstances(ctx, p.ID, func(pool model.Pool, rows []model.Instance) []model.Instance {
			if len(rows) >= int(pool.MaxRunners) {
				return nil
			}
			return []model.Instance{newInstance(numbered(i))}
		})
		if err != nil {
			t.Errorf("caller %d: %v", i, err)
		}
	})
	if rows := must[[]model.Instance](t)(f.InstancesOfPool(ctx, p.ID)); len(rows) != limit {
		t.Errorf("%d callers made %d rows, want %d", callers, len(rows), limit)
	}
	_, err := f.ReserveInstances(ctx, p.ID, func(model.Pool, []model.Instance) []model.Instance {
		return []model.Instance{newInstance("one-too-many")}
	})
	wantKind(t, err, model.KindConflict)
}

func testWriters(t *testing.T, f *fixture) {
	const writers, writes = 10, 20
	ctx := t.Context()
	i := f.instance(t, f.pool(t, f.entity(t, "widgets"), 2), "garm-1")
	together(writers, func(int) {
		for range writes {
			if _, err := f.UpdateInstance(ctx, i.ID, func(i *model.Instance) error { i.Failures++; return nil }); err != nil {
				t.Errorf("SV-53: a writer failed: %v", err)
			}
			if _, err := f.Instances(ctx); err != nil {
				t.Errorf("SV-53: a reader failed: %v", err)
			}
		}
	})
	if got := must[model.Instance](t)(f.Instance(ctx, i.ID)); got.Failures != writers*writes {
		t.Errorf("of %d updates %d are left", writers*writes, got.Failures)
	}
}

func testFeed(t *testing.T, f *fixture) {
	ctx := t.Context()
	i := f.instance(t, f.pool(t, f.entity(t, "widgets"), 2), "garm-1")
	f.feed.take()
	together(20, func(int) {
		if _, err := f.UpdateInstance(ctx, i.ID, func(i *model.Instance) error { i.AgentID++; return nil }); err != nil {
			t.Error(err)
		}
	})
	if err := f.DeleteInstance(ctx, i.ID); err != nil {
		t.Fatal(err)
	}
	changes := f.feed.take()
	if len(changes) != 21 {
		t.Fatalf("20 updates and a deletion were published as %d changes", len(changes))
	}
	for n, c := range changes[:20] {
		if got := c.Object.(model.Instance); c.Operation != model.OpUpdate || got.AgentID != int64(n+1) {
			t.Errorf("change %d is %s of agent %d", n, c.Operation, got.AgentID)
		}
	}
	if last := changes[20]; last.Operation != model.OpDelete || last.Object.(model.Instance).AgentID != 20 {
		t.Errorf("the last change is %+v", last)
	}
}

func testRestart(t *testing.T, f *fixture) {
	ctx := t.Context()
	e := f.entity(t, "widgets")
	p := f.pool(t, e, 2)
	p = must[model.Pool](t)(f.UpdatePool(ctx, p.ID, func(p *model.Pool) error { p.ExtraSpecs = []byte(`{"b":1,"a":2.50}`); return nil }))
	i := f.instance(t, p, "garm-1")
	i = must[model.Instance](t)(f.UpdateInstance(ctx, i.ID, func(i *model.Instance) error {
		i.ProviderFault, i.Addresses = []byte("no capacity"), []model.Address{{Address: "192.0.2.10", Type: "private"}}
		return nil
	}))
	f.reopen(t)
	if diff := cmp.Diff(e, must[model.Entity](t)(f.Entity(ctx, e.ID))); diff != "" {
		t.Errorf("the entity differs: %s", diff)
	}
	if diff := cmp.Diff(p, must[model.Pool](t)(f.Pool(ctx, p.ID))); diff != "" {
		t.Errorf("the pool differs: %s", diff)
	}
	if diff := cmp.Diff(i, must[model.Instance](t)(f.InstanceByName(ctx, "GARM-1"))); diff != "" {
		t.Errorf("the instance differs: %s", diff)
	}
}

func testSecrets(t *testing.T, f *fixture) {
	ctx := t.Context()
	e := f.entity(t, "widgets")
	i := f.instance(t, f.pool(t, e, 2), "garm-1")
	must[model.Instance](t)(f.SetJITConfig(ctx, i.ID, 42, model.JITConfig{".runner": []byte("jit-very-secret")}))
	f.reopen(t)
	if got := must[model.ForgeSecret](t)(f.ForgeSecret(ctx, e.Credentials.ID)); got.Token != "ghp_verysecrettoken" {
		t.Error("the token of the credentials is another one")
	}
	if got := must[model.WebhookState](t)(f.WebhookState(ctx, e.ID)); string(got.Secret) != "hook-very-secret" {
		t.Error("the webhook secret is another one")
	}
	if got := must[model.JITConfig](t)(f.JITConfig(ctx, i.ID)); string(got[".runner"]) != "jit-very-secret" {
		t.Error("the just-in-time configuration is another one")
	}
	rotated := must[model.Credentials](t)(f.UpdateCredentials(ctx, e.Credentials.ID, func(_ *model.Credentials, s *model.ForgeSecret) error { s.Token = "ghp_new"; return nil }))
	if rotated.Revision != e.Credentials.Revision+1 {
		t.Errorf("a new token made revision %d of %d", rotated.Revision, e.Credentials.Revision)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"verysecret", "very-secret", Passphrase} {
		if f.database.Contains(t, secret) {
			t.Errorf("the database holds %q in the clear", secret)
		}
	}
	if other, err := f.database.Open(t, "another-passphrase-of-32-bytes--", f.feed); err == nil {
		_ = other.Close()
		t.Error("the database opens with another passphrase")
	}
}
