package githubsim

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// maxOutbox bounds the deliveries that wait for one slow receiver; what does not fit is lost, as at GitHub.
const maxOutbox = 10000

// Delivery is a webhook that was sent, or is being sent.
type Delivery struct {
	GUID   string          `json:"guid"`
	HookID int64           `json:"hook_id"`
	Event  string          `json:"event"`
	Action string          `json:"action"`
	JobID  int64           `json:"job_id,omitempty"`
	URL    string          `json:"url"`
	Body   json.RawMessage `json:"-"`
	// Status is the answer's; 0 until there is one. Error says why there is none.
	Status   int           `json:"status"`
	Error    string        `json:"error,omitempty"`
	Done     bool          `json:"done"`
	At       time.Time     `json:"at"`
	Duration time.Duration `json:"duration_ns"`

	hook hook
}

// mailman carries deliveries.
type mailman struct{ strict, insecure *http.Client }

func newMailman() mailman {
	client := func(insecure bool) *http.Client {
		return &http.Client{
			Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: insecure}}, //nolint:gosec // what the hook's insecure_ssl asks for
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return mailman{strict: client(false), insecure: client(true)}
}

func (m mailman) close() {
	m.strict.CloseIdleConnections()
	m.insecure.CloseIdleConnections()
}

// Deliveries are the latest deliveries of all hooks, the oldest first.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Delivery, 0, len(s.state.deliveries))
	for _, d := range s.state.deliveries {
		list = append(list, *d)
	}
	return list
}

// notifyHooks sends the state of a job to every hook that is installed over its repository. The caller holds mu.
func (s *Server) notifyHooks(j *job) {
	scopes := s.scopesOver(j.scope)
	enterprise := ""
	if len(scopes) > 2 {
		enterprise = scopes[2].name()
	}
	event := workflowJobEvent(j, enterprise, s.publicURLLocked())
	for _, h := range s.state.hooks {
		wanted := slices.Contains(h.Events, "workflow_job") || slices.Contains(h.Events, "*")
		if h.Inactive || !wanted || !slices.Contains(scopes, h.Scope.key()) {
			continue
		}
		s.post(h, &Delivery{Event: "workflow_job", Action: string(j.Status), JobID: j.ID}, event)
	}
}

// ping sends the event by which GitHub tries a hook. The caller holds mu.
func (s *Server) ping(h *hook) {
	s.post(h, &Delivery{Event: "ping"}, map[string]any{"zen": "Keep it logically awesome.", "hook_id": h.ID, "hook": s.hookPayload(h)})
}

// post puts a delivery into the outbox of its hook. Each hook has its deliveries in order, none waits for another
// hook's. The caller holds mu.
func (s *Server) post(h *hook, d *Delivery, payload map[string]any) {
	body, err := json.Marshal(payload)
	if err != nil || s.ctx.Err() != nil {
		return
	}
	d.GUID, d.HookID, d.URL, d.Body, d.At, d.hook = uuid.NewString(), h.ID, h.URL, body, s.opt.Now(), *h
	s.state.deliveries = keepLast(append(s.state.deliveries, d), s.opt.History)
	waiting := s.state.outbox[h.ID]
	if len(waiting) >= maxOutbox {
		d.Done, d.Error = true, "lost: too many deliveries wait for this hook"
		return
	}
	s.state.outbox[h.ID] = append(waiting, d)
	if len(waiting) == 0 {
		s.group.Go(func() { s.deliverAll(h.ID) })
	}
}

// deliverAll empties the outbox of a hook. A delivery leaves it only when it is done, so that post starts no second
// worker beside this one.
func (s *Server) deliverAll(hookID int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.state.outbox[hookID]) > 0 && s.ctx.Err() == nil {
		next := s.state.outbox[hookID][0]
		began := s.opt.Now()
		s.mu.Unlock()
		status, err := s.deliver(next)
		s.mu.Lock()
		next.Status, next.Done, next.Duration = status, true, s.opt.Now().Sub(began)
		if err != nil {
			next.Error = err.Error()
		}
		s.state.outbox[hookID] = s.state.outbox[hookID][1:]
		s.change()
	}
	delete(s.state.outbox, hookID)
}

// deliver sends one delivery, once.
func (s *Server) deliver(d *Delivery) (int, error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.opt.DeliveryTimeout)
	defer cancel()
	body, contentType := []byte(d.Body), "application/json"
	if d.hook.contentType == "form" {
		body, contentType = []byte(url.Values{"payload": {string(d.Body)}}.Encode()), "application/x-www-form-urlencoded"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("delivering a webhook: %w", err)
	}
	header := request.Header
	header.Set("Content-Type", contentType)
	header.Set("User-Agent", "GitHub-Hookshot/simulated")
	header.Set("X-GitHub-Event", d.Event)
	header.Set("X-GitHub-Delivery", d.GUID)
	header.Set("X-GitHub-Hook-ID", strconv.FormatInt(d.HookID, 10))
	header.Set("X-GitHub-Hook-Installation-Target-Type", d.hook.Scope.targetType())
	header.Set("X-GitHub-Hook-Installation-Target-ID", strconv.FormatInt(idOfName(d.hook.Scope), 10))
	if d.hook.Secret != "" {
		header.Set("X-Hub-Signature-256", "sha256="+signature(d.hook.Secret, body))
	}
	client := s.mailman.strict
	if d.hook.InsecureSSL {
		client = s.mailman.insecure
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("delivering a webhook: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxBody))
	return response.StatusCode, nil
}

func signature(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return strings.ToLower(hex.EncodeToString(mac.Sum(nil)))
}
