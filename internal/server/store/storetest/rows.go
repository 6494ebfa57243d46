package storetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/service"
)

func testFresh(t *testing.T, f *fixture) {
	first := must[model.Controller](t)(f.Controller(t.Context()))
	if first.ID == "" || first.JobBackoff != model.DefaultJobBackoff {
		t.Errorf("a new database has the controller %+v", first)
	}
	if _, err := f.Endpoint(t.Context(), "GitHub.com"); err != nil {
		t.Errorf("the endpoint github.com is not found without letter case: %v", err)
	}
	// SV-10: it is an endpoint like others; once deleted it does not come back by itself.
	if err := f.DeleteEndpoint(t.Context(), "github.com"); err != nil {
		t.Fatal(err)
	}
	f.reopen(t)
	if got := must[model.Controller](t)(f.Controller(t.Context())); got.ID != first.ID {
		t.Errorf("the controller id became %s", got.ID)
	}
	_, err := f.Endpoint(t.Context(), "github.com")
	wantKind(t, err, model.KindNotFound)
}

func testAdmin(t *testing.T, f *fixture) {
	admin := model.User{Username: "Admin", Email: "admin@example.com", PasswordHash: []byte("x"), Enabled: true, IsAdmin: true}
	made := must[model.User](t)(f.CreateAdmin(t.Context(), admin))
	admin.Username = "second"
	_, err := f.CreateAdmin(t.Context(), admin)
	wantKind(t, err, model.KindConflict)
	for _, login := range []string{"admin", "ADMIN@example.com"} {
		if got := must[model.User](t)(f.UserByLogin(t.Context(), login)); got.ID != made.ID {
			t.Errorf("%s is user %s, want %s", login, got.ID, made.ID)
		}
	}
}

func testUnique(t *testing.T, f *fixture) {
	ctx := t.Context()
	_, err := f.CreateEndpoint(ctx, model.Endpoint{Name: "GITHUB.com"})
	wantKind(t, err, model.KindConflict)

	c := f.credentials(t, "Main")
	_, err = f.CreateCredentials(ctx, model.Credentials{Name: "mAIN", Endpoint: model.Endpoint{Name: "github.com"}}, model.ForgeSecret{Token: "x"})
	wantKind(t, err, model.KindConflict)
	other := f.credentials(t, "other")
	_, err = f.UpdateCredentials(ctx, other.ID, func(c *model.Credentials, _ *model.ForgeSecret) error { c.Name = "MAIN"; return nil })
	wantKind(t, err, model.KindConflict)

	e := model.Entity{Kind: model.KindRepository, Owner: "Acme", Name: "Widgets", Credentials: c}
	must[model.Entity](t)(f.CreateEntity(ctx, e, []byte("s")))
	e.Owner, e.Name = "ACME", "WIDGETS"
	_, err = f.CreateEntity(ctx, e, []byte("s"))
	wantKind(t, err, model.KindConflict)

	// SV-9: the same name at another endpoint is another repository.
	must[model.Endpoint](t)(f.CreateEndpoint(ctx, model.Endpoint{Name: "ghes", Type: model.ForgeGitHub, BaseURL: "https://ghes.example.com"}))
	elsewhere := must[model.Credentials](t)(f.CreateCredentials(ctx, model.Credentials{Name: "ghes", Endpoint: model.Endpoint{Name: "ghes"}, AuthType: model.AuthPAT}, model.ForgeSecret{Token: "x"}))
	e.Credentials = elsewhere
	twin := must[model.Entity](t)(f.CreateEntity(ctx, e, []byte("s")))
	if err := f.DeleteEntity(ctx, twin.ID); err != nil {
		t.Fatal(err)
	}
	if left := must[[]model.Entity](t)(f.Entities(ctx)); len(left) != 1 || left[0].Endpoint().Name != "github.com" {
		t.Errorf("after one of two namesakes was deleted there are %v", left)
	}

	p := f.pool(t, left(t, f), 2)
	f.instance(t, p, "garm-AbC")
	_, err = f.ReserveInstances(ctx, p.ID, func(model.Pool, []model.Instance) []model.Instance { return []model.Instance{newInstance("GARM-abc")} })
	wantKind(t, err, model.KindConflict)
}

func left(t *testing.T, f *fixture) model.Entity {
	t.Helper()
	return must[[]model.Entity](t)(f.Entities(t.Context()))[0]
}

func testReferences(t *testing.T, f *fixture) {
	ctx := t.Context()
	e := f.entity(t, "widgets")
	p := f.pool(t, e, 2)
	i := f.instance(t, p, "garm-1")
	wantKind(t, f.DeleteEndpoint(ctx, "github.com"), model.KindInvalid)
	wantKind(t, f.DeleteCredentials(ctx, e.Credentials.ID), model.KindInvalid)
	wantKind(t, f.DeleteEntity(ctx, e.ID), model.KindInvalid)
	wantKind(t, f.DeletePool(ctx, p.ID), model.KindInvalid)
	for _, err := range []error{
		f.DeleteInstance(ctx, i.ID), f.DeleteInstance(ctx, i.ID), f.DeletePool(ctx, p.ID), f.DeletePool(ctx, p.ID), f.DeleteEntity(ctx, e.ID),
		f.DeleteCredentials(ctx, e.Credentials.ID), f.DeleteCredentials(ctx, e.Credentials.ID), f.DeleteEndpoint(ctx, "github.com"), f.DeleteEndpoint(ctx, "github.com"),
	} {
		if err != nil {
			t.Errorf("deleting from the leaves on: %v", err)
		}
	}
	wantKind(t, f.DeleteEntity(ctx, e.ID), model.KindNotFound)
}

func testNoOp(t *testing.T, f *fixture) {
	ctx := t.Context()
	e := f.entity(t, "widgets")
	p := f.pool(t, e, 2)
	i := f.instance(t, p, "garm-1")
	f.feed.take()
	must[model.Controller](t)(f.UpdateController(ctx, func(*model.Controller) error { return nil }))
	must[model.Endpoint](t)(f.UpdateEndpoint(ctx, "github.com", func(*model.Endpoint, bool) error { return nil }))
	must[model.Credentials](t)(f.UpdateCredentials(ctx, e.Credentials.ID, func(_ *model.Credentials, s *model.ForgeSecret) error {
		s.Token = "ghp_verysecrettoken"
		return nil
	}))
	same := must[model.Entity](t)(f.UpdateEntity(ctx, e.ID, func(_ *model.Entity, w *model.WebhookState) error {
		w.Rotate([]byte("hook-very-secret"), true)
		return nil
	}))
	must[model.Pool](t)(f.UpdatePool(ctx, p.ID, func(*model.Pool) error { return nil }))
	must[model.Instance](t)(f.UpdateInstance(ctx, i.ID, func(*model.Instance) error { return nil }))
	if err := f.UpdateWebhookState(ctx, e.ID, func(*model.WebhookState) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if changes := f.feed.take(); len(changes) > 0 {
		t.Errorf("equal values were published as %v", changes)
	}
	if diff := cmp.Diff(e, same); diff != "" {
		t.Errorf("equal values changed the entity: %s", diff)
	}
}

func testRefusedUpdate(t *testing.T, f *fixture) {
	p := f.pool(t, f.entity(t, "widgets"), 2)
	i := f.instance(t, p, "garm-1")
	f.feed.take()
	stop := errors.New("stop")
	_, err := f.UpdateInstance(t.Context(), i.ID, func(i *model.Instance) error { i.Status = model.InstanceRunning; return stop })
	if err != stop { //nolint:errorlint // the contract is that it is returned as it is
		t.Errorf("the error of the update came back as %v", err)
	}
	if got := must[model.Instance](t)(f.Instance(t.Context(), i.ID)); got.Status != i.Status {
		t.Errorf("a refused update wrote %s", got.Status)
	}
	if changes := f.feed.take(); len(changes) > 0 {
		t.Errorf("a refused update was published as %v", changes)
	}
}

func testTags(t *testing.T, f *fixture) {
	e := f.entity(t, "widgets")
	first := f.pool(t, e, 2)
	p := must[model.Pool](t)(f.UpdatePool(t.Context(), first.ID, func(p *model.Pool) error {
		p.Tags = service.NewTags([]string{"LINUX", "gpu", "GPU"})
		return nil
	}))
	if diff := cmp.Diff([]string{"Linux", "gpu"}, p.TagNames()); diff != "" {
		t.Errorf("tags differ: %s", diff)
	}
	if p.Tags[0].ID != first.Tags[0].ID {
		t.Error("a tag changed its id with its spelling")
	}
}

func testHidden(t *testing.T, f *fixture) {
	i := f.instance(t, f.pool(t, f.entity(t, "widgets"), 2), "garm-1")
	got := must[model.Instance](t)(f.UpdateInstance(t.Context(), i.ID, func(i *model.Instance) error { i.Failures++; return nil }))
	if !got.UpdatedAt.Equal(i.UpdatedAt) || got.Failures != 1 {
		t.Errorf("a hidden change made %+v of %+v", got, i)
	}
	got = must[model.Instance](t)(f.UpdateInstance(t.Context(), i.ID, func(i *model.Instance) error { i.Status = model.InstanceCreating; return nil }))
	if !got.UpdatedAt.After(i.UpdatedAt) {
		t.Error("a change that users see did not move the time")
	}
}

func testHistory(t *testing.T, f *fixture) {
	ctx := t.Context()
	e := f.entity(t, "widgets")
	i := f.instance(t, f.pool(t, e, 2), "garm-1")
	for n := range 40 {
		if err := f.AddInstanceMessage(ctx, i.ID, model.InstanceMessage{Kind: "status", Level: model.LevelInfo, Message: numbered(n)}); err != nil {
			t.Fatal(err)
		}
		if err := f.AddEntityEvent(ctx, e.ID, model.LevelInfo, numbered(n)); err != nil {
			t.Fatal(err)
		}
	}
	messages, events := must[[]model.InstanceMessage](t)(f.InstanceMessages(ctx, i.ID)), must[[]model.EntityEvent](t)(f.EntityEvents(ctx, e.ID))
	if len(messages) != 30 || messages[29].Message != numbered(39) || len(events) != 30 || events[0].Message != numbered(10) {
		t.Errorf("of 40 messages there are %d and %d, the newest last", len(messages), len(events))
	}
	after := must[model.Entity](t)(f.Entity(ctx, e.ID))
	if !after.UpdatedAt.After(e.UpdatedAt) {
		t.Error("an event is no change of the entity, so nobody is told")
	}
	if err := f.AddInstanceMessage(ctx, "missing", model.InstanceMessage{}); err != nil {
		t.Errorf("a message to an instance that is gone: %v", err)
	}
}

func testJobs(t *testing.T, f *fixture) {
	ctx := t.Context()
	e := f.entity(t, "widgets")
	record := func(id int64, status model.JobStatus) model.Job {
		return must[model.Job](t)(f.RecordJob(ctx, id, e.ID, func(j *model.Job, _ bool) error {
			j.Status, j.Labels = status, []string{"linux"}
			return nil
		}))
	}
	first := record(7, model.JobQueued)
	record(8, model.JobQueued)
	if again := record(7, model.JobInProgress); again.ID != first.ID {
		t.Errorf("job 7 has the rows %d and %d", first.ID, again.ID)
	}
	queued := must[[]model.Job](t)(f.QueuedJobs(ctx, e.ID))
	if len(queued) != 1 || queued[0].WorkflowJobID != 8 || queued[0].EntityKind != model.KindRepository {
		t.Errorf("queued jobs are %+v", queued)
	}
	if err := f.DeleteJob(ctx, first.ID); err != nil {
		t.Fatal(err)
	}
	if all := must[[]model.Job](t)(f.Jobs(ctx)); len(all) != 1 {
		t.Errorf("after a deletion there are %d jobs", len(all))
	}
}
