package githubsim_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
)

// Every field of the payloads that GARM servers were seen to read is in the simulator's payload, with the same JSON
// type or null.
func TestPayloadsHaveTheRecordedFields(t *testing.T) {
	file, err := os.Open("../../../../shared/conformance/v0.2.1/webhooks.jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the recordings of real servers are not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()

	payload := make(chan []byte, 1)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		select {
		case payload <- body:
		default:
		}
	}))
	t.Cleanup(hook.Close)
	s := start(t, githubsim.Options{Enterprises: map[string]string{"acme": "acme-corp"}})
	if _, err := s.AddHook(githubsim.Hook{Scope: githubsim.OrganizationScope("acme"), URL: hook.URL}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.QueueJob(githubsim.JobSpec{Repo: "acme/hooks", Labels: []string{"x"}}); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(<-payload, &got); err != nil {
		t.Fatal(err)
	}
	compared := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var exchange struct {
			Headers map[string]string `json:"request_headers"`
			Body    map[string]any    `json:"request_body"`
			Status  int               `json:"status"`
		}
		if json.Unmarshal(lines.Bytes(), &exchange) != nil || exchange.Headers["X-Github-Event"] != "workflow_job" || exchange.Status != http.StatusOK {
			continue
		}
		if _, complete := exchange.Body["workflow_job"]; !complete {
			continue
		}
		compared++
		covers(t, "", exchange.Body, got)
	}
	if compared == 0 {
		t.Error("no recorded payload was found")
	}
}

func covers(t *testing.T, path string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s is %T, want an object", path, got)
			return
		}
		for key, value := range want {
			field, found := object[key]
			if !found {
				t.Errorf("%s.%s is missing", path, key)
				continue
			}
			covers(t, path+"."+key, value, field)
		}
	case string:
		if _, ok := got.(string); !ok && got != nil {
			t.Errorf("%s is %T, want text", path, got)
		}
	case float64:
		if _, ok := got.(float64); !ok && got != nil {
			t.Errorf("%s is %T, want a number", path, got)
		}
	case []any:
		if _, ok := got.([]any); !ok {
			t.Errorf("%s is %T, want a list", path, got)
		}
	}
}
