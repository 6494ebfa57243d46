package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func needsSetup(exchanges []Exchange) bool {
	return !slices.ContainsFunc(exchanges, func(e Exchange) bool { return strings.TrimSuffix(e.Path, "/") == "/api/v1/first-run" })
}

// setUp brings a fresh server to the state that the topic "setup" leaves: an administrator, the controller's URLs, the
// endpoint "sim" and the credentials "sim-pat".
func (r *Replayer) setUp(ctx context.Context) error {
	for _, step := range []struct{ method, path, body, bind string }{
		{"POST", "/first-run", `{"username":"<admin-user>","email":"<admin-email>","full_name":"Admin","password":"<admin-password>"}`, ""},
		{"POST", "/auth/login", `{"username":"<admin-user>","password":"<admin-password>"}`, `{"token":"<token>"}`},
		{"PUT", "/controller", `{"metadata_url":"<garm-url>/api/v1/metadata","callback_url":"<garm-url>/api/v1/callbacks",` +
			`"webhook_url":"<garm-url>/webhooks","minimum_job_age_backoff":5}`, `{"controller_id":"<controller-id>"}`},
		{"POST", "/github/endpoints", `{"name":"sim","description":"simulator","api_base_url":"<forge-url>","upload_base_url":"<forge-url>","base_url":"<forge-url>"}`, ""},
		{
			"POST", "/github/credentials", `{"name":"sim-pat","description":"a token","endpoint":"sim","auth_type":"pat","pat":{"oauth2_token":"ghp_conformance"}}`,
			`{"id":"<credentials-id-1:int>"}`,
		},
	} {
		e := Exchange{Method: step.method, Path: "/api/v1" + step.path, RequestBody: json.RawMessage(step.body), RequestHeaders: map[string]string{"Content-Type": "application/json"}}
		if r.bound["token"] != "" {
			e.RequestHeaders["Authorization"] = "Bearer <token>"
		}
		a, err := r.send(ctx, e)
		if err != nil {
			return fmt.Errorf("setting the server up: %w", err)
		}
		if a.status != http.StatusOK {
			return fmt.Errorf("setting the server up: %s %s answers %d %s", step.method, step.path, a.status, a.text)
		}
		if step.bind == "" {
			continue
		}
		_, want := decode(step.bind)
		_, got := decode(a.text)
		if found := (comparer{}).compare(want, got, r.bound, "$"); len(found) > 0 {
			return fmt.Errorf("setting the server up: %s %s: %s", step.method, step.path, found[0])
		}
	}
	return nil
}
