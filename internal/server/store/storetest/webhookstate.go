package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

func testWebhookState(t *testing.T, f *fixture) {
	ctx := t.Context()
	e, other := f.entity(t, "widgets"), f.entity(t, "gadgets")
	rotate := func(to string) {
		must[model.Entity](t)(f.UpdateEntity(ctx, e.ID, func(_ *model.Entity, w *model.WebhookState) error { w.Rotate([]byte(to), true); return nil }))
	}
	rotate("second-very-secret")
	rotate("third-very-secret")
	f.reopen(t)
	want := model.WebhookState{Secret: []byte("third-very-secret"), Old: [][]byte{[]byte("hook-very-secret"), []byte("second-very-secret")}}
	if !cmp.Equal(want, must[model.WebhookState](t)(f.WebhookState(ctx, e.ID))) {
		t.Error("the secrets are others after a restart")
	}
	waiting := must[[]model.Entity](t)(f.EntitiesWithOldSecrets(ctx))
	if len(waiting) != 1 || waiting[0].ID != e.ID {
		t.Errorf("old secrets are known of %v", waiting)
	}
	for _, secret := range []string{"hook-very-secret", "second-very-secret", "third-very-secret", "very-secret"} {
		if f.database.Contains(t, secret) {
			t.Errorf("the database holds %q in the clear", secret)
		}
	}
	f.feed.take()
	now := time.Unix(1_700_000_000, 0).UTC()
	err := f.UpdateWebhookState(ctx, e.ID, func(w *model.WebhookState) error {
		w.Installed = true
		w.Told([]byte("third-very-secret"), now)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want.Installed, want.ToldAt = true, now
	if !cmp.Equal(want, must[model.WebhookState](t)(f.WebhookState(ctx, e.ID))) {
		t.Error("what was told is not kept")
	}
	if err := f.UpdateWebhookState(ctx, e.ID, func(w *model.WebhookState) error { w.Forget(); return nil }); err != nil {
		t.Fatal(err)
	}
	if left := must[[]model.Entity](t)(f.EntitiesWithOldSecrets(ctx)); len(left) != 0 {
		t.Errorf("old secrets are still known of %v", left)
	}
	if changes := f.feed.take(); len(changes) > 0 {
		t.Errorf("what users do not see was published as %v", changes)
	}
	if got := must[model.WebhookState](t)(f.WebhookState(ctx, other.ID)); got.Installed || len(got.Old) > 0 {
		t.Error("another entity has changed with it")
	}
	wantKind(t, f.UpdateWebhookState(ctx, "none", func(*model.WebhookState) error { return nil }), model.KindNotFound)
}
