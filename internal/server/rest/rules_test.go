package rest_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/rest"
)

func TestSetUpComesFirst(t *testing.T) {
	s := newServer(t, nil)
	if got := s.want(t, 409, "GET", "/providers", nil); got["error"] != "init_required" {
		t.Errorf("before first-run: %v", got)
	}
	// SV-7: with and without the slash, and a doubled slash leads to the right path.
	s.want(t, 400, "POST", "/first-run", "{not json")
	s.want(t, 200, "POST", "/first-run/", map[string]any{"username": "admin", "email": "admin@example.com", "password": password})
	s.want(t, 409, "POST", "/first-run", "{not json")
	s.want(t, 401, "POST", "/auth/login", map[string]any{"username": "admin", "password": "wrong"})
	s.want(t, 401, "POST", "/auth/login", map[string]any{"username": "nobody", "password": password})
	for _, login := range []string{"admin", "Admin@example.com"} {
		if got := s.want(t, 200, "POST", "/auth/login", map[string]any{"username": login, "password": password}); got["token"] == "" {
			t.Errorf("%s gets no token", login)
		}
	}
	if got := s.want(t, 409, "GET", "/providers", nil); got["error"] != "urls_required" {
		t.Errorf("before the URLs, without a token: %v", got)
	}
	response, _ := s.do(t, "GET", "//providers?x=1", nil)
	if got := response.Header.Get("Location"); response.StatusCode != 301 || got != "/api/v1/providers?x=1" {
		t.Errorf("SV-7: a doubled slash answers %d to %q", response.StatusCode, got)
	}
}

func TestMethodsAndPaths(t *testing.T) {
	s := ready(t, nil)
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"DELETE", "/repositories", 404},
		{"PUT", "/pools/", 404},
		{"PATCH", "/repositories", 405},
		{"HEAD", "/providers", 405},
		{"OPTIONS", "/anything/at/all", 200},
		{"GET", "/no-such", 404},
		{"GET", "/scalesets", 404},
		{"GET", "/templates", 404},
		{"GET", "/../../x", 301},
		{"GET", "/pools/not-a-uuid", 400},
		{"GET", "/github/credentials/x", 400},
		{"GET", "/ws/logs", 400}, // SV-5: the stream is off
	} {
		if response, text := s.do(t, c.method, c.path, nil); response.StatusCode != c.status {
			t.Errorf("%s %s answers %d %s, want %d", c.method, c.path, response.StatusCode, text, c.status)
		}
	}
}

func TestTokens(t *testing.T) {
	s := ready(t, nil)
	admin := s.token
	metrics := s.want(t, 200, "GET", "/metrics-token", nil)["token"].(string)
	for name, token := range map[string]string{"none": "", "nonsense": "x.y.z", "metrics": metrics, "unsigned": "eyJhbGciOiJub25lIn0.eyJ1c2VyIjoieCJ9."} {
		if response, _ := s.do(t, "GET", "/providers", nil, "Authorization", "Bearer "+token); response.StatusCode != 401 {
			t.Errorf("the token %q answers %d", name, response.StatusCode)
		}
	}
	user, err := s.store.UserByLogin(t.Context(), "admin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.UpdateUser(t.Context(), user.ID, func(u *model.User) error { u.Generation++; return nil }); err != nil {
		t.Fatal(err)
	}
	if response, _ := s.do(t, "GET", "/providers", nil, "Authorization", "Bearer "+admin); response.StatusCode != 401 {
		t.Errorf("a token of an earlier password answers %d", response.StatusCode)
	}
}

func TestCORS(t *testing.T) {
	for name, c := range map[string]struct {
		allowed      []string
		origin, want string
	}{
		"SV-18 any origin":  {[]string{"*"}, "https://ui.example.com", "*"},
		"one origin":        {[]string{"https://ui.example.com"}, "https://ui.example.com", "https://ui.example.com"},
		"another origin":    {[]string{"https://ui.example.com"}, "https://evil.example.com", ""},
		"nothing is set up": {nil, "https://ui.example.com", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(o *rest.Options) { o.CORSOrigins = c.allowed })
			for _, method := range []string{http.MethodOptions, http.MethodGet} {
				response, _ := s.do(t, method, "/providers", nil, "Origin", c.origin)
				if got := response.Header.Get("Access-Control-Allow-Origin"); got != c.want {
					t.Errorf("%s allows %q, want %q", method, got, c.want)
				}
				if response.Header.Get("Access-Control-Allow-Credentials") != "" {
					t.Error("credentials are allowed")
				}
			}
		})
	}
}

func TestRequiredFields(t *testing.T) {
	s := ready(t, nil)
	repository, _ := s.fleet(t)
	complete := map[string]map[string]any{
		"/organizations": {"name": "acme-org", "credentials_name": "main", "webhook_secret": "s"},
		"/enterprises":   {"name": "acme-ent", "credentials_name": "main", "webhook_secret": "s"},
		"/repositories":  {"owner": "acme", "name": "other", "credentials_name": "main", "webhook_secret": "s"},
		"/github/endpoints": {
			"name": "ghes", "api_base_url": "https://ghes.example.com/api/v3", "upload_base_url": "https://ghes.example.com/up", "base_url": "https://ghes.example.com",
		},
		"/github/credentials": {"name": "second", "endpoint": "github.com", "auth_type": "pat", "pat": map[string]any{"oauth2_token": "x"}},
		"/repositories/" + repository + "/pools": {
			"provider_name": "sim", "image": "i", "flavor": "f", "os_type": "linux", "os_arch": "amd64", "tags": []string{"t"}, "max_runners": 1,
		},
	}
	for path, body := range complete {
		for missing := range body {
			t.Run("SV-12"+path+"/"+missing, func(t *testing.T) {
				partial := map[string]any{}
				for key, value := range body {
					if key != missing {
						partial[key] = value
					}
				}
				if got := s.want(t, 400, "POST", path, partial); got["details"] == "" {
					t.Errorf("the answer does not say what is missing: %v", got)
				}
			})
		}
		s.want(t, 200, "POST", path, body)
		if !strings.HasSuffix(path, "/pools") {
			t.Run("SV-13"+path, func(t *testing.T) { s.want(t, 409, "POST", path, body) })
		}
	}
}

// SV-9: the same names at two endpoints are two things.
func TestSV9SameNameAtTwoEndpoints(t *testing.T) {
	s := ready(t, nil)
	s.want(t, 200, "POST", "/github/endpoints", map[string]any{
		"name": "ghes", "api_base_url": "https://ghes.example.com/api/v3", "upload_base_url": "https://ghes.example.com/up", "base_url": "https://ghes.example.com",
	})
	ids := map[string]string{}
	for _, endpoint := range []string{"github.com", "ghes"} {
		s.want(t, 200, "POST", "/github/credentials", map[string]any{"name": "at-" + endpoint, "endpoint": endpoint, "auth_type": "pat", "pat": map[string]any{"oauth2_token": "x"}})
		made := s.want(t, 200, "POST", "/repositories", map[string]any{"owner": "acme", "name": "widgets", "credentials_name": "at-" + endpoint, "webhook_secret": "s"})
		ids[endpoint] = made["id"].(string)
	}
	if ids["ghes"] == ids["github.com"] {
		t.Fatal("the second is the first")
	}
	s.want(t, 400, "PUT", "/repositories/"+ids["ghes"], map[string]any{"credentials_name": "at-github.com"})
	s.want(t, 200, "DELETE", "/repositories/"+ids["github.com"], nil)
	s.want(t, 404, "GET", "/repositories/"+ids["github.com"], nil)
	if left := s.want(t, 200, "GET", "/repositories/"+ids["ghes"], nil); left["credentials_name"] != "at-ghes" {
		t.Errorf("the other is %v", left)
	}
}

func TestDefaultEndpoint(t *testing.T) {
	s := ready(t, nil)
	s.fleet(t)
	if got := s.want(t, 400, "DELETE", "/github/endpoints/github.com", nil); got["details"] == "" {
		t.Error("SV-10: no text says why the endpoint stays")
	}
	unused := ready(t, nil)
	unused.want(t, 204, "DELETE", "/github/endpoints/GitHub.com", nil)
	unused.want(t, 404, "GET", "/github/endpoints/github.com", nil)
}

func TestToolsSyncIsOff(t *testing.T) {
	s := ready(t, nil)
	t.Run("SV-14", func(t *testing.T) { s.want(t, 409, "POST", "/controller/tools/sync", nil) })
}

func TestPoolLists(t *testing.T) {
	s := ready(t, nil)
	s.fleet(t)
	_, text := s.do(t, "GET", "/pools", nil)
	for _, want := range []string{`"priority":7`, `"repo_name":"acme/widgets"`, `"name":"github.com"`, `"name":"alpha"`} {
		if !strings.Contains(text, want) {
			t.Errorf("SV-15: the list has no %s: %s", want, text)
		}
	}
}

func TestControllerURLs(t *testing.T) {
	s := ready(t, nil)
	t.Run("SV-16", func(t *testing.T) {
		if got := s.want(t, 400, "PUT", "/controller", map[string]any{"webhook_url": "nonsense"}); !strings.Contains(got["details"].(string), "webhook_url") {
			t.Errorf("the text does not name the key: %v", got)
		}
		got := s.want(t, 200, "PUT", "/controller", map[string]any{"metadata_url": "http://garm.test/other", "callback_url": nil})
		if got["metadata_url"] != "http://garm.test/other" || got["callback_url"] != "http://garm.test/c" || got["agent_url"] != "http://garm.test" {
			t.Errorf("a partial update makes %v", got)
		}
	})
}

func TestSecretsAreNeverShown(t *testing.T) {
	s := ready(t, nil)
	repository, pool := s.fleet(t)
	for _, path := range []string{"/github/credentials", "/github/credentials/1", "/repositories", "/repositories/" + repository, "/pools/" + pool, "/controller", "/jobs"} {
		response, text := s.do(t, "GET", path, nil)
		if response.StatusCode != 200 || strings.Contains(text, "verysecret") {
			t.Errorf("%s answers %d %s", path, response.StatusCode, text)
		}
	}
}

func TestExtraSpecs(t *testing.T) {
	s := ready(t, nil)
	_, pool := s.fleet(t)
	for sent, want := range map[string]string{
		`{"b": 1, "a":[2.50,1e3]}`: `{"b":1,"a":[2.50,1e3]}`, `null`: `null`, `"text"`: `"text"`, `[]`: `[]`, `{"h":"<&>"}`: `{"h":"\u003c\u0026\u003e"}`,
		`7`: "", `-1.5e3`: "",
	} {
		response, text := s.do(t, "PUT", "/pools/"+pool, `{"extra_specs": `+sent+`}`)
		switch {
		case want == "" && response.StatusCode != 400:
			t.Errorf("%s answers %d", sent, response.StatusCode)
		case want != "" && !strings.Contains(text, `"extra_specs":`+want+`,`):
			t.Errorf("%s comes back otherwise: %s", sent, text)
		}
	}
}

// TestEqualPut: clients PUT what is there already at every pass, and that has to cost and to tell nothing.
func TestEqualPut(t *testing.T) {
	s := ready(t, nil)
	repository, pool := s.fleet(t)
	feed := s.hub.Subscribe(0)
	defer feed.Close()
	s.want(t, 200, "PUT", "/repositories/"+repository, map[string]any{"credentials_name": "MAIN", "webhook_secret": "hook-verysecret", "pool_balancer_type": ""})
	s.want(t, 200, "PUT", "/github/credentials/1", map[string]any{"name": "main", "description": "", "pat": map[string]any{"oauth2_token": "ghp_verysecret"}})
	s.want(t, 200, "PUT", "/github/endpoints/github.com", map[string]any{"base_url": "https://github.com", "ca_cert_bundle": ""})
	body := newPool()
	body["tags"] = []string{"ALPHA"}
	s.want(t, 200, "PUT", "/pools/"+pool, body)
	select {
	case change := <-feed.Changes():
		t.Errorf("an equal PUT was published: %+v", change)
	default:
	}
}

// Names that would lead calls of the forge elsewhere, or that are no names, are refused by the field that holds them.
func TestNamesOfEntities(t *testing.T) {
	s := ready(t, nil)
	s.fleet(t)
	for _, name := range []string{".", "..", strings.Repeat("x", 256)} {
		for path, body := range map[string]map[string]any{
			"/organizations?name": {"name": name}, "/enterprises?name": {"name": name},
			"/repositories?name": {"owner": "acme", "name": name}, "/repositories?owner": {"owner": name, "name": "other"},
		} {
			body["credentials_name"], body["webhook_secret"] = "main", "s"
			path, field, _ := strings.Cut(path, "?")
			if got := s.want(t, 400, "POST", path, body); !strings.HasPrefix(fmt.Sprint(got["details"]), field+" cannot be") {
				t.Errorf("%s with the %s %.10q: %v", path, field, name, got)
			}
		}
	}
}

// What is too large to be kept is refused by name, and changes nothing.
func TestPoolNumbersAreBounded(t *testing.T) {
	s := ready(t, nil)
	repository, pool := s.fleet(t)
	tags := make([]string, 1001)
	for i := range tags {
		tags[i] = fmt.Sprintf("tag-%d", i)
	}
	before := s.want(t, 200, "GET", "/pools/"+pool, nil)
	for field, value := range map[string]any{"max_runners": uint64(1) << 63, "min_idle_runners": uint64(math.MaxUint64), "priority": uint64(math.MaxUint64), "tags": tags} {
		t.Run(field, func(t *testing.T) {
			body := newPool()
			body[field] = value
			for method, path := range map[string]string{"POST": "/repositories/" + repository + "/pools", "PUT": "/pools/" + pool} {
				if got := s.want(t, 400, method, path, body); !strings.Contains(fmt.Sprint(got["details"]), field) {
					t.Errorf("%s does not name the field: %v", method, got)
				}
			}
		})
	}
	if diff := cmp.Diff(before, s.want(t, 200, "GET", "/pools/"+pool, nil)); diff != "" {
		t.Errorf("the pool has changed (-before +after):\n%s", diff)
	}
}
