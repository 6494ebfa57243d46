package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/weburl"
)

// Store is what webhooks need of the database.
type Store interface {
	Controller(ctx context.Context) (model.Controller, error)
	Endpoints(ctx context.Context) ([]model.Endpoint, error)
	EntitiesOfKind(ctx context.Context, kind model.EntityKind) ([]model.Entity, error)
	WebhookState(ctx context.Context, id model.EntityID) (model.WebhookState, error)
	PoolsOfEntity(ctx context.Context, id model.EntityID) ([]model.Pool, error)
	InstanceByName(ctx context.Context, name string) (model.Instance, error)
	UpdateInstance(ctx context.Context, id model.InstanceID, update func(*model.Instance) error) (model.Instance, error)
	RecordJob(ctx context.Context, workflowJobID int64, entity model.EntityID, update func(job *model.Job, exists bool) error) (model.Job, error)
}

// Handler takes webhooks of a forge. One is taken when its transaction is done; what follows from it, the engine learns
// from the change feed.
type Handler struct {
	// Observe is told of every webhook about a job, and why it was not taken: empty, owner_unknown, signature_invalid or
	// unknown; nil for nobody.
	Observe func(reason string)

	store  Store
	log    *slog.Logger
	bodies *semaphore.Weighted
	// elsewhere has the ids of the entities of which tellElsewhere has told.
	elsewhere sync.Map
}

// New makes a handler.
func New(store Store, log *slog.Logger) *Handler {
	return &Handler{store: store, log: log, bodies: semaphore.NewWeighted(maxBodies)}
}

// Take takes the webhook that a request brings, and answers nothing. Errors are of kind model.KindInvalid for what is no
// webhook and model.KindUnauthorized for a signature that is missing or wrong. One that is about nothing of ours is no
// error.
func (h *Handler) Take(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if id := r.PathValue("controller"); id != "" {
		controller, err := h.store.Controller(ctx)
		if err != nil {
			return err
		}
		if !strings.EqualFold(id, string(controller.ID)) {
			return nil // meant for another server
		}
	}
	body, held, err := h.read(w, r)
	defer h.bodies.Release(held)
	if err != nil {
		return model.Invalid("the body cannot be read: %v", err)
	}
	if r.Header.Get("X-Github-Event") != "workflow_job" {
		return nil
	}
	known, err := h.takeJob(ctx, r.Header, body)
	if h.Observe != nil {
		h.Observe(reasonOf(known, err))
	}
	return err
}

// reasonOf is how a webhook about a job is counted.
func reasonOf(known bool, err error) string {
	switch {
	case err == nil && known:
		return ""
	case err == nil:
		return "owner_unknown"
	case model.KindOf(err) == model.KindUnauthorized:
		return "signature_invalid"
	}
	return "unknown"
}

// takeJob takes the payload of a webhook about a job. Known says whether that is one of ours.
func (h *Handler) takeJob(ctx context.Context, header http.Header, body []byte) (known bool, err error) {
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		return false, model.Invalid("the body is no workflow_job event")
	}
	entity, found, err := h.entity(ctx, header.Get("X-Github-Hook-Installation-Target-Type"), p)
	if err != nil || !found {
		return false, err
	}
	state, err := h.store.WebhookState(ctx, entity.ID)
	if err != nil {
		return true, err
	}
	if err := checkSignature(state.Accepted(time.Now()), body, header.Get("X-Hub-Signature-256")); err != nil {
		return true, err
	}
	return true, h.record(ctx, entity, p)
}

// entity finds who a webhook is about: by the address of the job and the type of the target. Unknown ones are nobody's
// fault.
func (h *Handler) entity(ctx context.Context, target string, p payload) (e model.Entity, found bool, err error) {
	var kind model.EntityKind
	var owner, name string
	switch target {
	case "repository":
		kind, owner, name = model.KindRepository, p.Repository.Owner.Login, p.Repository.Name
	case "organization":
		kind, name = model.KindOrganization, p.Organization.Login
	case "business":
		kind, name = model.KindEnterprise, p.Enterprise.Slug
	default:
		return e, false, model.Invalid("unknown hook target type %q", target)
	}
	if p.Job.ID == 0 || name == "" {
		return e, false, model.Invalid("the event names no job or no %s", kind)
	}
	entities, err := h.store.EntitiesOfKind(ctx, kind)
	if err != nil {
		return e, false, err
	}
	var elsewhere model.Entity
	for _, e := range entities {
		switch {
		case !strings.EqualFold(e.Name, name) || !strings.EqualFold(e.Owner, owner):
		case sameHost(e.Endpoint().BaseURL, p.Job.HTMLURL):
			return e, true, nil
		default:
			elsewhere = e
		}
	}
	h.tellElsewhere(elsewhere, p.Job.HTMLURL)
	return e, false, nil
}

// maxHost is how long a host and its port can be: the sender is not known yet.
const maxHost = 253 + len(":65535")

// tellElsewhere warns, once for each entity, of webhooks that name another host than its endpoint: where that is the same
// forge by another address, no job ever comes in.
func (h *Handler) tellElsewhere(e model.Entity, job string) {
	u, err := url.Parse(job)
	if e.ID == "" || err != nil || len(u.Host) > maxHost {
		return
	}
	if _, told := h.elsewhere.LoadOrStore(e.ID, struct{}{}); !told {
		h.log.Warn("Webhooks about jobs come from another host than that of the endpoint, and are ignored; if both are one forge, the endpoint's base_url has to be the address that the webhooks name",
			"entity", e.FullName(), "endpoint", e.Endpoint().Name, "base_url", weburl.WithoutLogin(e.Endpoint().BaseURL), "host", u.Host)
	}
}

func sameHost(endpoint, job string) bool {
	a, errA := url.Parse(endpoint)
	b, errB := url.Parse(job)
	return errA == nil && errB == nil && strings.EqualFold(a.Host, b.Host) && strings.EqualFold(a.Scheme, b.Scheme)
}

// checkSignature wants a signature by one of some secrets. It accepts SHA-256 only: with the sender's choice of algorithm a
// weak one would do.
func checkSignature(secrets [][]byte, body []byte, header string) error {
	if header == "" {
		return model.Unauthorized("the signature is missing")
	}
	algorithm, signature, _ := strings.Cut(header, "=")
	if algorithm != "sha256" {
		return model.Invalid("unknown signature algorithm %q", algorithm)
	}
	sent, err := hex.DecodeString(signature)
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write(body)
		if err == nil && hmac.Equal(sent, mac.Sum(nil)) {
			return nil
		}
	}
	return model.Unauthorized("the signature is wrong")
}

// errSkip leaves a row alone.
var errSkip = errors.New("nothing to record")
