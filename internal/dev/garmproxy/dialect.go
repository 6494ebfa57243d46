package garmproxy

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Dialect is how the proxy makes the server speak. Nil leaves it as it is.
type Dialect interface {
	// lacks says whether the release has no such route.
	lacks(template string) bool
	// answer returns the status and the body that the release would answer.
	answer(method, template string, status int, body []byte) (int, []byte)
	// event returns how the release would send an event, and whether it would.
	event(data []byte) ([]byte, bool)
}

// Speak changes the dialect. Streams that are open speak it from their next event on.
func (p *Proxy) Speak(d Dialect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialect = d
}

func (p *Proxy) speaks() Dialect {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dialect == nil {
		return plain{}
	}
	return p.dialect
}

type plain struct{}

func (plain) lacks(string) bool                                    { return false }
func (plain) answer(_, _ string, s int, body []byte) (int, []byte) { return s, body }
func (plain) event(data []byte) ([]byte, bool)                     { return data, true }

// translate rewrites an answer of the API.
func (p *Proxy) translate(r *http.Response) error {
	d := p.speaks()
	if _, ok := d.(plain); ok || r.StatusCode == http.StatusSwitchingProtocols || !strings.HasPrefix(r.Request.URL.Path, "/api/v1/") {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return err
	}
	r.StatusCode, body = d.answer(r.Request.Method, Template(r.Request.URL.Path), r.StatusCode, body)
	r.Status = strconv.Itoa(r.StatusCode) + " " + http.StatusText(r.StatusCode)
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// V015 is GARM v0.1.5: no times but those of instances and jobs, no keys of later releases, null for empty lists, a bare
// 500 where it loses what went wrong, and no event when a pool manager starts or stops.
func V015() Dialect { return &v015{entities: map[string]string{}} }

type v015 struct {
	mu sync.Mutex
	// entities holds what was last sent of each entity, but for its pool manager.
	entities map[string]string
}

func (*v015) lacks(template string) bool {
	for _, later := range []string{"/gitea", "/scalesets", "/templates", "/objects", "/tools", "/controller/tools", "/ws/metrics", "/ws/agent"} {
		if strings.HasPrefix(template, later) {
			return true
		}
	}
	return strings.HasSuffix(template, "/scalesets")
}

func (*v015) answer(method, template string, status int, body []byte) (int, []byte) {
	if status >= 400 {
		return v015Error(method, template, status, body)
	}
	kind := kindOf(template)
	if kind == nil || len(bytes.TrimSpace(body)) == 0 {
		return status, body
	}
	if method == http.MethodGet && kind.nullable && !strings.HasSuffix(template, "}") && string(bytes.TrimSpace(body)) == "[]" {
		return status, []byte("null")
	}
	return status, kind.strip(body)
}

const (
	v015URLsRequired = `{"error":"urls_required","details":"Missing required URLs. Make sure you update the metadata, callback and webhook URLs"}`
	bare500          = `{"error":"Server error","details":""}`
)

func v015Error(method, template string, status int, body []byte) (int, []byte) {
	entityPool := strings.HasSuffix(template, "/{id}/pools") || strings.HasSuffix(template, "/{id}/pools/{id}")
	switch {
	case status == http.StatusConflict && bytes.Contains(body, []byte("urls_required")):
		return status, []byte(v015URLsRequired)
	case status == http.StatusConflict && bytes.Contains(body, []byte("init_required")):
		return http.StatusUnauthorized, []byte(`{"error":"Not Authorized","details":""}`)
	case status == http.StatusBadRequest && method == http.MethodPost && entityPool,
		status == http.StatusNotFound && method == http.MethodPost && template == "/repositories/{id}/pools",
		status == http.StatusNotFound && strings.HasSuffix(template, "/{id}/pools/{id}"),
		status == http.StatusBadRequest && method == http.MethodDelete && template == "/github/endpoints/{id}",
		status == http.StatusConflict && method == http.MethodPut && template == "/github/credentials/{id}":
		return http.StatusInternalServerError, []byte(bare500)
	}
	return status, body
}

func (d *v015) event(data []byte) ([]byte, bool) {
	var e struct {
		EntityType string          `json:"entity-type"`
		Operation  string          `json:"operation"`
		Payload    json.RawMessage `json:"payload"`
	}
	if json.Unmarshal(data, &e) != nil {
		return data, true
	}
	kind, ok := eventKinds[e.EntityType]
	if !ok {
		return data, e.EntityType != "scaleset" && e.EntityType != "template" && e.EntityType != "file_object" && e.EntityType != "gitea_credentials"
	}
	e.Payload = kind.strip(e.Payload)
	if kind == entityKind && !d.changed(e.EntityType, e.Operation, e.Payload) {
		return nil, false
	}
	out, err := json.Marshal(e)
	if err != nil {
		return data, true
	}
	return out, true
}

// changed says whether an entity has changed otherwise than in its pool manager, and remembers it.
func (d *v015) changed(kind, operation string, payload json.RawMessage) bool {
	var entity map[string]json.RawMessage
	if json.Unmarshal(payload, &entity) != nil {
		return true
	}
	delete(entity, "pool_manager_status")
	rest, err := json.Marshal(entity)
	if err != nil {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key := kind + string(entity["id"])
	if operation == "delete" {
		delete(d.entities, key)
		return true
	}
	before, seen := d.entities[key]
	d.entities[key] = string(rest)
	return !seen || before != string(rest)
}
