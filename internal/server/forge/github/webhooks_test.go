package github_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/internal/server/forge/github"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

func webhooksOf(t *testing.T, g *ghes, kind model.EntityKind) github.Webhooks {
	t.Helper()
	forges := github.New(github.Options{Secrets: secrets{1: {Token: "first"}}, Timeout: 10 * time.Second})
	t.Cleanup(forges.Close)
	w, err := forges.Webhooks(t.Context(), g.entity(kind))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWebhookCalls(t *testing.T) {
	g := newGHES(t)
	hook := `{"id":7,"active":true,"events":["workflow_job"],"config":{"url":"https://garm.test/webhooks/c","content_type":"json","insecure_ssl":"1","secret":"********"}}`
	g.fail = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodGet && r.URL.Query().Get("page") == "1":
			w.Header().Set("Link", fmt.Sprintf(`<%s%s?page=2>; rel="next"`, g.URL, r.URL.Path))
			_, _ = w.Write([]byte("[]"))
		case r.Method == http.MethodGet:
			_, _ = w.Write([]byte("[" + hook + "]"))
		case r.Method == http.MethodDelete, strings.HasSuffix(r.URL.Path, "/pings"):
			w.WriteHeader(http.StatusNoContent)
		default:
			_, _ = w.Write([]byte(hook))
		}
		return true
	}
	want := model.Webhook{ID: 7, URL: "https://garm.test/webhooks/c", Events: []string{"workflow_job"}, Active: true, InsecureSSL: true}
	config := model.WebhookConfig{URL: want.URL, Secret: "s3cret", InsecureSSL: true}
	for kind, scope := range map[model.EntityKind]string{model.KindOrganization: "/api/v3/orgs/acme", model.KindRepository: "/api/v3/repos/acme/app"} {
		w := webhooksOf(t, g, kind)
		if list, err := w.List(t.Context()); err != nil || cmp.Diff([]model.Webhook{want}, list) != "" {
			t.Errorf("webhooks of both pages: %+v, %v", list, err)
		}
		made, err := w.Install(t.Context(), config)
		if err != nil || cmp.Diff(want, made) != "" {
			t.Errorf("installed: %+v, %v", made, err)
		}
		var sent struct {
			Name   string
			Active bool
			Events []string
			Config map[string]string
		}
		if err := json.Unmarshal([]byte(g.lastBody()), &sent); err != nil {
			t.Fatal(err)
		}
		settings := map[string]string{"url": want.URL, "content_type": "json", "secret": "s3cret", "insecure_ssl": "1"}
		if sent.Name != "web" || !sent.Active || cmp.Diff(want.Events, sent.Events) != "" || cmp.Diff(settings, sent.Config) != "" {
			t.Errorf("sent: %+v", sent)
		}
		if _, err := w.Change(t.Context(), 7, config); err != nil {
			t.Error(err)
		}
		if err := w.Ping(t.Context(), 7); err != nil {
			t.Error(err)
		}
		if err := w.Remove(t.Context(), 7); err != nil {
			t.Error(err)
		}
		last := g.calls[len(g.calls)-3:]
		if diff := cmp.Diff([]string{"PATCH " + scope + "/hooks/7", "POST " + scope + "/hooks/7/pings", "DELETE " + scope + "/hooks/7"}, last); diff != "" {
			t.Error(diff)
		}
	}
}

// SV-34: what GitHub refuses is told with what the administrator has to do, and without the secret.
func TestSV34RefusedWebhook(t *testing.T) {
	const exists = `{"message":"Validation Failed","errors":[{"resource":"Hook","code":"custom","message":"Hook already exists on this organization"}]}`
	for name, test := range map[string]struct {
		status int
		header map[string]string
		body   string
		kind   model.ErrorKind
		says   []string
	}{
		"401":        {status: 401, body: `{"message":"Bad credentials"}`, kind: model.KindInvalid, says: []string{"401 Bad credentials", `"creds"`, "admin:org_hook"}},
		"403":        {status: 403, body: `{"message":"Resource not accessible"}`, kind: model.KindInvalid, says: []string{"403 Resource not accessible", "admin:org_hook"}},
		"404":        {status: 404, body: `{"message":"Not Found"}`, kind: model.KindInvalid, says: []string{"404 Not Found", "admin:org_hook"}},
		"exists":     {status: 422, body: exists, kind: model.KindConflict, says: []string{"hook already installed"}},
		"bad URL":    {status: 422, body: `{"message":"Validation Failed","errors":[{"message":"url is not reachable"}]}`, kind: model.KindInvalid, says: []string{"url is not reachable"}},
		"503":        {status: 503, body: `{"message":"Unicorn"}`, kind: model.KindUpstream, says: []string{"503 Unicorn"}},
		"rate limit": {status: 429, header: map[string]string{"Retry-After": "600"}, body: `{"message":"slow down"}`, kind: model.KindUpstream, says: []string{"rate limit"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGHES(t)
			g.fail = func(w http.ResponseWriter, _ *http.Request) bool {
				for k, v := range test.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.body))
				return true
			}
			_, err := webhooksOf(t, g, model.KindOrganization).Install(t.Context(), model.WebhookConfig{URL: "https://garm.test/w", Secret: "s3ntinel"})
			if err == nil || model.KindOf(err) != test.kind {
				t.Fatalf("error of kind %d, want %d: %v", model.KindOf(err), test.kind, err)
			}
			for _, says := range test.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%q is not in %q", says, err)
				}
			}
			if strings.Contains(err.Error(), "s3ntinel") {
				t.Errorf("the secret is in %q", err)
			}
		})
	}
}
