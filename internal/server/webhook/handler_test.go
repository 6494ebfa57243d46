package webhook_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/service"
	"github.com/garm-operator/garm-operator/internal/server/store/sqlstore"
	"github.com/garm-operator/garm-operator/internal/server/webhook"
)

type hooks struct {
	*webhook.Handler
	store  *sqlstore.Store
	entity model.Entity
	pool   model.Pool
}

func newHooks(t *testing.T) *hooks {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{Path: filepath.Join(t.TempDir(), "garm.db"), Passphrase: "a9Kd03jfLq82nvBx71mWzPq45tYhs6Gc"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	credentials, err := store.CreateCredentials(t.Context(), model.Credentials{Name: "main", Endpoint: model.Endpoint{Name: "github.com"}, AuthType: model.AuthPAT}, model.ForgeSecret{Token: "x"})
	if err != nil {
		t.Fatal(err)
	}
	entity, err := store.CreateEntity(t.Context(), model.Entity{Kind: model.KindRepository, Owner: "acme", Name: "widgets", Credentials: credentials}, []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	pool, err := store.CreatePool(t.Context(), model.Pool{EntityID: entity.ID, ProviderName: "sim", Tags: service.NewTags([]string{"Linux", "x64"}), MaxRunners: 5, Enabled: true})
	if err != nil {
		t.Fatal(err)
	}
	return &hooks{webhook.New(store, slog.New(slog.DiscardHandler)), store, entity, pool}
}

func event(action string, job int64, runner string, labels ...string) map[string]any {
	return map[string]any{
		"action": action,
		"workflow_job": map[string]any{
			"id": job, "run_id": 1000, "name": "build", "html_url": "https://github.com/acme/widgets/actions/runs/1000/job/7", "labels": labels, "runner_name": runner,
		},
		"repository": map[string]any{"name": "Widgets", "owner": map[string]any{"login": "ACME"}},
	}
}

func sign(name string, algorithm func() hash.Hash, secret string, body []byte) string {
	mac := hmac.New(algorithm, []byte(secret))
	mac.Write(body)
	return name + "=" + hex.EncodeToString(mac.Sum(nil))
}

// post sends an event with a signature, or one made with the right secret, and returns the status.
func (h *hooks) post(t *testing.T, body any, signature ...string) int {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks", bytes.NewReader(data))
	r.Header.Set("X-Github-Event", "workflow_job")
	r.Header.Set("X-Github-Hook-Installation-Target-Type", "repository")
	if len(signature) == 0 {
		signature = []string{sign("sha256", sha256.New, "secret", data)}
	}
	r.Header.Set("X-Hub-Signature-256", signature[0])
	return status(h.Take(httptest.NewRecorder(), r))
}

// status is what the sender of a webhook is told.
func status(err error) int {
	switch {
	case err == nil:
		return http.StatusOK
	case model.KindOf(err) == model.KindInvalid:
		return http.StatusBadRequest
	case model.KindOf(err) == model.KindUnauthorized:
		return http.StatusUnauthorized
	}
	return http.StatusInternalServerError
}

func (h *hooks) jobs(t *testing.T) []model.Job {
	t.Helper()
	jobs, err := h.store.Jobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

func TestSignature(t *testing.T) {
	h := newHooks(t)
	body := event("queued", 1, "", "linux")
	data, _ := json.Marshal(body)
	for name, c := range map[string]struct {
		signature string
		want      int
	}{
		"SV-33 missing":      {"", 401},
		"SV-33 wrong secret": {sign("sha256", sha256.New, "other", data), 401},
		"SV-33 SHA-1":        {sign("sha1", sha1.New, "secret", data), 400},
		"SV-33 no hex":       {"sha256=zz", 401},
	} {
		t.Run(name, func(t *testing.T) {
			if got := h.post(t, body, c.signature); got != c.want {
				t.Errorf("the answer is %d, want %d", got, c.want)
			}
		})
	}
	if jobs := h.jobs(t); len(jobs) != 0 {
		t.Errorf("an unsigned event was recorded: %+v", jobs)
	}
}

func TestQueued(t *testing.T) {
	h := newHooks(t)
	for job, labels := range map[int64][]string{1: {"linux", "X64"}, 2: {"linux", "gpu"}, 3: nil} {
		if got := h.post(t, event("queued", job, "", labels...)); got != 200 {
			t.Errorf("job %d answers %d", job, got)
		}
	}
	h.post(t, event("queued", 1, "", "linux", "x64"))
	jobs := h.jobs(t)
	if len(jobs) != 1 || jobs[0].WorkflowJobID != 1 || jobs[0].Status != model.JobQueued || jobs[0].WorkflowRunURL != "https://github.com/acme/widgets/actions/runs/1000" {
		t.Errorf("recorded are %+v", jobs)
	}
}

func TestForeignEventsAreNoFault(t *testing.T) {
	h := newHooks(t)
	other := event("queued", 1, "", "linux")
	other["repository"] = map[string]any{"name": "unknown", "owner": map[string]any{"login": "acme"}}
	if got := h.post(t, other); got != 200 {
		t.Errorf("an unknown repository answers %d", got)
	}
	if got := h.post(t, map[string]any{}); got != 400 {
		t.Errorf("an empty event answers %d", got)
	}
	if got := h.post(t, event("completed", 9, "not-ours", "linux")); got != 200 || len(h.jobs(t)) != 0 {
		t.Errorf("a job on a foreign runner answers %d and leaves %v", got, h.jobs(t))
	}
}

func TestLifeOfAJob(t *testing.T) {
	h := newHooks(t)
	rows, err := h.store.ReserveInstances(t.Context(), h.pool.ID, func(model.Pool, []model.Instance) []model.Instance {
		return []model.Instance{{Name: "garm-one", Status: model.InstanceRunning, RunnerStatus: model.RunnerIdle}}
	})
	if err != nil {
		t.Fatal(err)
	}
	state := func() model.Instance {
		i, err := h.store.Instance(t.Context(), rows[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	h.post(t, event("queued", 1, "", "linux"))
	h.post(t, event("in_progress", 1, "GARM-one", "linux"))
	if got := state(); got.RunnerStatus != model.RunnerActive {
		t.Errorf("a runner with a job is %s", got.RunnerStatus)
	}
	h.post(t, event("completed", 1, "garm-one", "linux"))
	if got := state(); got.RunnerStatus != model.RunnerTerminated || got.Status != model.InstancePendingDelete {
		t.Errorf("a runner whose job is over is %s, %s", got.RunnerStatus, got.Status)
	}
	t.Run("SV-30", func(t *testing.T) {
		for _, late := range []string{"queued", "in_progress"} {
			if got := h.post(t, event(late, 1, "garm-one", "linux")); got != 200 {
				t.Errorf("a late %s answers %d", late, got)
			}
		}
		if jobs := h.jobs(t); len(jobs) != 1 || jobs[0].Status != model.JobCompleted {
			t.Errorf("late events made %+v", jobs)
		}
		if got := state(); got.RunnerStatus != model.RunnerTerminated {
			t.Errorf("late events made the runner %s", got.RunnerStatus)
		}
	})
}

func FuzzPayload(f *testing.F) {
	f.Add([]byte(`{"action":"queued","workflow_job":{"id":1,"labels":["x"]},"repository":{"name":"n","owner":{"login":"o"}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks", bytes.NewReader(body))
		r.Header.Set("X-Github-Event", "workflow_job")
		r.Header.Set("X-Github-Hook-Installation-Target-Type", "repository")
		err := webhook.New(noStore{}, slog.New(slog.DiscardHandler)).Take(httptest.NewRecorder(), r)
		if status(err) >= 500 {
			t.Errorf("the event is refused as if it were the server's fault: %v", err)
		}
	})
}

// noStore knows no entity.
type noStore struct{ webhook.Store }

func (noStore) EntitiesOfKind(context.Context, model.EntityKind) ([]model.Entity, error) {
	return nil, nil
}

// Each kind of entity has its own secret, and no other opens it.
func TestSV33SignatureOfEachKind(t *testing.T) {
	h := newHooks(t)
	for _, e := range []model.Entity{{Kind: model.KindOrganization, Name: "acme"}, {Kind: model.KindEnterprise, Name: "acme"}} {
		e.Credentials = h.entity.Credentials
		if _, err := h.store.CreateEntity(t.Context(), e, []byte(string(e.Kind)+"-secret")); err != nil {
			t.Fatal(err)
		}
	}
	body := event("queued", 1, "", "linux")
	body["organization"], body["enterprise"] = map[string]any{"login": "Acme"}, map[string]any{"slug": "acme"}
	data, _ := json.Marshal(body)
	secrets := map[string]string{"repository": "secret", "organization": "organization-secret", "business": "enterprise-secret"}
	for target, own := range secrets {
		for signer, secret := range secrets {
			reason := "not observed"
			h.Observe = func(r string) { reason = r }
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks", bytes.NewReader(data))
			r.Header.Set("X-Github-Event", "workflow_job")
			r.Header.Set("X-Github-Hook-Installation-Target-Type", target)
			r.Header.Set("X-Hub-Signature-256", sign("sha256", sha256.New, secret, data))
			want, wantReason := http.StatusOK, ""
			if secret != own {
				want, wantReason = http.StatusUnauthorized, "signature_invalid"
			}
			if got := status(h.Take(httptest.NewRecorder(), r)); got != want || reason != wantReason {
				t.Errorf("to the %s, signed by the %s: %d for %q, want %d for %q", target, signer, got, reason, want, wantReason)
			}
		}
	}
}

// An endpoint with another address than the webhooks of its forge name takes none: that is told, once.
func TestSV43WebhookOfAnotherHost(t *testing.T) {
	h := newHooks(t)
	var log bytes.Buffer
	h.Handler = webhook.New(h.store, slog.New(slog.NewTextHandler(&log, nil)))
	body := event("queued", 1, "", "linux")
	body["workflow_job"].(map[string]any)["html_url"] = "https://ghes.example.com/acme/widgets/actions/runs/1000/job/7"
	for range 3 {
		if got := h.post(t, body); got != http.StatusOK {
			t.Errorf("the answer is %d", got)
		}
	}
	if jobs := h.jobs(t); len(jobs) != 0 {
		t.Errorf("recorded: %+v", jobs)
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "ghes.example.com") || !strings.Contains(text, "https://github.com") {
		t.Errorf("the log has %q", text)
	}
}

// While the forge has not been told a new secret, and for a moment after, what it signs by the old one is taken.
func TestOP52WebhooksDuringARotation(t *testing.T) {
	h := newHooks(t)
	job := int64(0)
	want := func(when, secret string, want int) {
		t.Helper()
		job++
		body := event("queued", job, "", "linux")
		data, _ := json.Marshal(body)
		if got := h.post(t, body, sign("sha256", sha256.New, secret, data)); got != want {
			t.Errorf("%s, signed by %q: %d, want %d", when, secret, got, want)
		}
	}
	change := func(update func(*model.WebhookState)) {
		t.Helper()
		if err := h.store.UpdateWebhookState(t.Context(), h.entity.ID, func(s *model.WebhookState) error { update(s); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	change(func(s *model.WebhookState) { s.Rotate([]byte("second"), true) })
	want("not told", "secret", 200)
	want("not told", "second", 200)
	want("not told", "third", 401)
	change(func(s *model.WebhookState) { s.Told([]byte("second"), time.Now()) })
	want("just told", "secret", 200)
	change(func(s *model.WebhookState) { s.ToldAt = time.Now().Add(-model.OldSecretGrace) })
	want("told long ago", "secret", 401)
	want("told long ago", "second", 200)
	change(func(s *model.WebhookState) { s.Rotate([]byte("third"), false) })
	want("nobody is to be told", "second", 401)
}
