package rest_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/rest"
)

// managed starts an API that manages webhooks, and returns the path of the webhook of a repository without pools.
func managed(t *testing.T) (s *server, entity, own string) {
	t.Helper()
	s = ready(t, func(o *rest.Options) { o.Service.ManageWebhooks = true })
	s.want(t, 200, "POST", "/github/credentials", map[string]any{"name": "main", "endpoint": "github.com", "auth_type": "pat", "pat": map[string]any{"oauth2_token": "ghp_verysecret"}})
	id := s.want(t, 200, "POST", "/repositories", map[string]any{"owner": "acme", "name": "widgets", "credentials_name": "main", "webhook_secret": "first"})["id"].(string)
	own = s.want(t, 200, "GET", "/controller", nil)["controller_webhook_url"].(string)
	return s, "/repositories/" + id, own
}

// hooks wants the forge to have these webhooks, each as URL and secret.
func (s *server) hooks(t *testing.T, want ...string) {
	t.Helper()
	var have []string
	for _, h := range s.engine.webhooks.All() {
		have = append(have, h.URL+" "+h.Secret)
	}
	if strings.Join(have, ", ") != strings.Join(want, ", ") {
		t.Errorf("webhooks at the forge: %q, want %q", have, want)
	}
}

// Without webhook management the routes are those of any path that a server does not know.
func TestWebhookManagementIsOff(t *testing.T) {
	s := ready(t, nil)
	repository, _ := s.fleet(t)
	for _, method := range []string{"GET", "POST", "DELETE"} {
		if answer := s.want(t, 404, method, "/repositories/"+repository+"/webhook", "{}"); answer["error"] != "Not found" {
			t.Errorf("%s answers %v", method, answer)
		}
	}
	if got := len(s.engine.webhooks.All()); got != 0 {
		t.Errorf("%d webhooks", got)
	}
}

func TestEnterprisesHaveNoWebhookRoutes(t *testing.T) {
	s, _, _ := managed(t)
	id := s.want(t, 200, "POST", "/enterprises", map[string]any{"name": "big", "credentials_name": "main", "webhook_secret": "s"})["id"].(string)
	if answer := s.want(t, 404, "POST", "/enterprises/"+id+"/webhook", "{}"); answer["error"] != "Not found" {
		t.Errorf("the answer is %v", answer)
	}
	s.want(t, 200, "PUT", "/enterprises/"+id, map[string]any{"webhook_secret": "other"})
	s.want(t, 200, "DELETE", "/enterprises/"+id, nil)
}

func TestWebhookLife(t *testing.T) {
	s, entity, own := managed(t)
	s.want(t, 404, "GET", entity+"/webhook", nil)
	installed := s.want(t, 200, "POST", entity+"/webhook", map[string]any{"webhook_endpoint_type": "direct", "insecure_ssl": true})
	if installed["url"] != own || installed["insecure_ssl"] != true || installed["active"] != true {
		t.Errorf("installed: %v", installed)
	}
	s.hooks(t, own+" first")
	if got := s.engine.webhooks.Pinged(); len(got) != 1 {
		t.Errorf("tried %v, want once", got)
	}
	if shown := s.want(t, 200, "GET", entity+"/webhook", nil); shown["id"] != installed["id"] {
		t.Errorf("shown: %v", shown)
	}
	s.want(t, 409, "POST", entity+"/webhook", map[string]any{})
	s.want(t, 200, "DELETE", entity+"/webhook", nil)
	s.want(t, 200, "DELETE", entity+"/webhook", nil)
	s.hooks(t)
}

// What would tell the server of each job twice is in the way.
func TestSV34WebhookInstalledTwice(t *testing.T) {
	for _, test := range []struct {
		name, url, replace string
		want               int
		after              string
	}{
		{"its own URL", "OWN", "", 409, "OWN "},
		{"its own URL, replaced", "OWN", "OWN", 200, "OWN first"},
		{"its own URL, replaced by another URL", "OWN", "https://old.test/x", 200, "OWN first"},
		{"its controller elsewhere", "https://old.test/hooks/CONTROLLER", "", 409, "https://old.test/hooks/CONTROLLER "},
		{"its controller elsewhere, replaced", "https://old.test/hooks/CONTROLLER", "OWN", 200, "OWN first"},
		{"the bare URL", "http://garm.test/w", "OWN", 409, "http://garm.test/w "},
		{"the same host", "https://GARM.test:8443/other", "", 409, "https://GARM.test:8443/other "},
		{"the same host, replaced", "https://garm.test/w/another", "https://garm.test/w/another", 200, "OWN first"},
		{"another host", "https://ci.test/hook", "OWN", 200, "https://ci.test/hook , OWN first"},
		{"a host with the name in it", "https://garm.test.example.com/", "", 200, "https://garm.test.example.com/ , OWN first"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, entity, own := managed(t)
			fill := strings.NewReplacer("OWN", own, "CONTROLLER", own[strings.LastIndex(own, "/")+1:])
			s.engine.webhooks.Add(fill.Replace(test.url))
			answer := s.want(t, test.want, "POST", entity+"/webhook", map[string]any{"replace_url": fill.Replace(test.replace)})
			if test.want == 409 && !strings.Contains(answer["details"].(string), "hook already installed") {
				t.Errorf("the answer is %v", answer)
			}
			s.hooks(t, fill.Replace(test.after))
		})
	}
}

func TestUninstallOfWhatUsersInstalled(t *testing.T) {
	s, entity, own := managed(t)
	s.engine.webhooks.Add("http://garm.test/w/")
	s.want(t, 400, "DELETE", entity+"/webhook", nil)
	s.engine.webhooks.Add(own)
	s.engine.webhooks.Add("https://old.test/" + own[strings.LastIndex(own, "/")+1:])
	s.want(t, 200, "DELETE", entity+"/webhook", nil)
	s.hooks(t, "http://garm.test/w/ ")
}

// What an administrator can mend is told; it is never the 401 that means a bad login here.
func TestSV34WebhookWithoutRights(t *testing.T) {
	s, entity, _ := managed(t)
	for status, err := range map[int]error{400: model.Invalid("admin:repo_hook is needed"), 409: model.Conflict("exists"), 502: model.Upstream("GitHub answers 503")} {
		s.engine.webhooks.Fail(err)
		for _, method := range []string{"GET", "POST", "DELETE"} {
			if answer := s.want(t, status, method, entity+"/webhook", "{}"); answer["details"] != err.Error() {
				t.Errorf("%s answers %v, want %v", method, answer, err)
			}
		}
	}
}

func TestWebhookURLIsNeeded(t *testing.T) {
	s, entity, _ := managed(t)
	if _, err := s.store.UpdateController(t.Context(), func(c *model.Controller) error { c.WebhookURL = ""; return nil }); err != nil {
		t.Fatal(err)
	}
	if answer := s.want(t, 400, "POST", entity+"/webhook", "{}"); !strings.Contains(answer["details"].(string), "webhook_url") {
		t.Errorf("the answer is %v", answer)
	}
	s.want(t, 404, "GET", entity+"/webhook", nil)
	s.want(t, 200, "DELETE", entity+"/webhook", nil)
}

func TestOP52RotatedSecretReachesTheWebhook(t *testing.T) {
	s, entity, own := managed(t)
	s.want(t, 200, "POST", entity+"/webhook", map[string]any{"insecure_ssl": true})
	s.want(t, 200, "PUT", entity, map[string]any{"webhook_secret": "second"})
	s.hooks(t, own+" second")
	if !s.engine.webhooks.All()[0].InsecureSSL {
		t.Error("the webhook has lost what it was installed with")
	}
	s.engine.webhooks.Fail(model.Invalid("admin:repo_hook is needed"))
	s.want(t, 200, "PUT", entity, map[string]any{"webhook_secret": "second"}) // nothing new, nothing to do
	if events := s.want(t, 200, "GET", entity, nil)["events"]; events != nil {
		t.Errorf("events: %v", events)
	}
	s.want(t, 200, "PUT", entity, map[string]any{"webhook_secret": "third"})
	events, _ := s.want(t, 200, "GET", entity, nil)["events"].([]any)
	if len(events) != 1 || !strings.Contains(events[0].(map[string]any)["message"].(string), "old secret, which counts until the forge takes the new one; it is tried again: admin:repo_hook") {
		t.Errorf("events: %v", events)
	}
}

// A server that ended before it told the forge a new secret does so when it starts; meanwhile both secrets count.
func TestOP52RotatedSecretSurvivesACrash(t *testing.T) {
	s, entity, own := managed(t)
	id := model.EntityID(strings.TrimPrefix(entity, "/repositories/"))
	s.want(t, 200, "POST", entity+"/webhook", "{}")
	accepted := func(want ...string) {
		t.Helper()
		state, err := s.store.WebhookState(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(bytes.Join(state.Accepted(time.Now()), []byte(" "))); got != strings.Join(want, " ") {
			t.Errorf("accepted are %q, want %q", got, want)
		}
	}
	// All that is left of a PUT whose server is killed after its transaction.
	_, err := s.store.UpdateEntity(t.Context(), id, func(_ *model.Entity, w *model.WebhookState) error { w.Rotate([]byte("second"), true); return nil })
	if err != nil {
		t.Fatal(err)
	}
	accepted("second", "first")
	s.engine.webhooks.Fail(model.Upstream("GitHub answers 503"))
	s.svc.SettleWebhookSecrets(t.Context())
	s.hooks(t, own+" first")
	accepted("second", "first")
	if events := s.want(t, 200, "GET", entity, nil)["events"]; events != nil {
		t.Errorf("each try adds an event: %v", events)
	}
	s.engine.webhooks.Fail(nil)
	s.svc.SettleWebhookSecrets(t.Context())
	s.hooks(t, own+" second")
	accepted("second", "first")
	s.svc.Now = func() time.Time { return time.Now().Add(model.OldSecretGrace) }
	s.svc.SettleWebhookSecrets(t.Context())
	accepted("second")
	events, _ := s.want(t, 200, "GET", entity, nil)["events"].([]any)
	if len(events) != 1 || !strings.Contains(events[0].(map[string]any)["message"].(string), "has the new secret") {
		t.Errorf("events: %v", events)
	}
}

// Installing the webhook anew tells the forge, too.
func TestOP52InstallEndsARotation(t *testing.T) {
	s, entity, own := managed(t)
	s.want(t, 200, "POST", entity+"/webhook", "{}")
	s.engine.webhooks.Fail(model.Upstream("GitHub answers 503"))
	s.want(t, 200, "PUT", entity, map[string]any{"webhook_secret": "second"})
	s.engine.webhooks.Fail(nil)
	s.want(t, 200, "POST", entity+"/webhook", map[string]any{"replace_url": own})
	state, err := s.store.WebhookState(t.Context(), model.EntityID(strings.TrimPrefix(entity, "/repositories/")))
	if err != nil || state.Waiting() {
		t.Errorf("the forge counts as not told: %v", err)
	}
	events, _ := s.want(t, 200, "GET", entity, nil)["events"].([]any)
	if len(events) != 2 || !strings.Contains(events[1].(map[string]any)["message"].(string), "has the new secret") {
		t.Errorf("events: %v", events)
	}
	s.hooks(t, own+" second")
}

// Where nobody had the server install a webhook, nobody misses one whose secret it cannot change.
func TestOP52RotationWithoutHookPermission(t *testing.T) {
	s, entity, _ := managed(t)
	id := model.EntityID(strings.TrimPrefix(entity, "/repositories/"))
	s.engine.webhooks.Fail(model.Invalid("admin:repo_hook is needed"))
	s.want(t, 200, "PUT", entity, map[string]any{"webhook_secret": "second"})
	if events := s.want(t, 200, "GET", entity, nil)["events"]; events != nil {
		t.Errorf("events: %v", events)
	}
	state, err := s.store.WebhookState(t.Context(), id)
	if err != nil || len(state.Accepted(time.Now())) != 1 {
		t.Errorf("%d secrets are accepted, %v", len(state.Accepted(time.Now())), err)
	}
	// An answer that says nothing is waited for without a word.
	s.engine.webhooks.Fail(model.Upstream("GitHub answers 503"))
	s.want(t, 200, "PUT", entity, map[string]any{"webhook_secret": "third"})
	if events := s.want(t, 200, "GET", entity, nil)["events"]; events != nil {
		t.Errorf("events: %v", events)
	}
	s.engine.webhooks.Fail(nil)
	s.svc.SettleWebhookSecrets(t.Context())
	if state, err = s.store.WebhookState(t.Context(), id); err != nil || len(state.Accepted(time.Now())) != 1 {
		t.Errorf("%d secrets are accepted, %v", len(state.Accepted(time.Now())), err)
	}
}

// Where webhooks are managed no longer, nobody will tell the forge the new secret: the old one ends, and users are told.
func TestOP52RotationThatNobodyEnds(t *testing.T) {
	s, entity, _ := managed(t)
	s.want(t, 200, "POST", entity+"/webhook", "{}")
	s.engine.webhooks.Fail(model.Upstream("GitHub answers 503"))
	s.want(t, 200, "PUT", entity, map[string]any{"webhook_secret": "second"})
	s.svc.ManageWebhooks = false
	for range 2 {
		s.svc.SettleWebhookSecrets(t.Context())
		state, err := s.store.WebhookState(t.Context(), model.EntityID(strings.TrimPrefix(entity, "/repositories/")))
		if err != nil || len(state.Accepted(time.Now())) != 1 {
			t.Errorf("%d secrets are accepted, %v", len(state.Accepted(time.Now())), err)
		}
	}
	events, _ := s.want(t, 200, "GET", entity, nil)["events"].([]any)
	if len(events) != 2 || !strings.Contains(events[1].(map[string]any)["message"].(string), "give it the new one there") {
		t.Errorf("events: %v", events)
	}
}

func TestWebhookGoesWithItsEntity(t *testing.T) {
	for name, test := range map[string]struct {
		query string
		fail  error
		gone  bool
	}{
		"removed":               {"", nil, true},
		"kept":                  {"?keepWebhook=true", nil, false},
		"removed when asked":    {"?keepWebhook=false", nil, true},
		"forge does not answer": {"", model.Upstream("GitHub answers 503"), false},
	} {
		t.Run(name, func(t *testing.T) {
			s, entity, own := managed(t)
			s.want(t, 200, "POST", entity+"/webhook", "{}")
			pool := s.want(t, 200, "POST", entity+"/pools", newPool())["id"].(string)
			s.want(t, http.StatusBadRequest, "DELETE", entity, nil)
			s.hooks(t, own+" first")
			s.want(t, 200, "DELETE", "/pools/"+pool, nil)
			s.engine.webhooks.Fail(test.fail)
			s.want(t, 200, "DELETE", entity+test.query, nil)
			if test.gone {
				s.hooks(t)
			} else {
				s.hooks(t, own+" first")
			}
		})
	}
}
