package rest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// runner adds an instance that is being set up, and returns it with its token.
func (s *server) runner(t *testing.T, jit bool) (model.Instance, string) {
	t.Helper()
	_, pool := s.fleet(t)
	rows, err := s.store.ReserveInstances(t.Context(), model.PoolID(pool), func(model.Pool, []model.Instance) []model.Instance {
		return []model.Instance{{Name: "garm-one", Status: model.InstanceRunning, RunnerStatus: model.RunnerPending, CreateAttempt: 1, OSType: model.Linux, OSArch: model.AMD64}}
	})
	if err != nil {
		t.Fatal(err)
	}
	row := rows[0]
	if jit {
		if row, err = s.store.SetJITConfig(t.Context(), row.ID, 42, model.JITConfig{".runner": []byte(`{"agentId":42}`)}); err != nil {
			t.Fatal(err)
		}
	}
	entity, err := s.store.Entity(t.Context(), row.EntityID)
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.tokens.InstanceToken(row, entity, 20*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return row, token
}

func TestRunnerReports(t *testing.T) {
	s := ready(t, nil)
	_, token := s.runner(t, false)
	auth := []string{"Authorization", "Bearer " + token}
	s.want(t, 401, "POST", "/callbacks/status", map[string]any{"status": "installing"})
	s.want(t, 401, "GET", "/providers", nil, auth...)
	s.want(t, 200, "POST", "/callbacks/status", map[string]any{"status": "installing", "message": "starting"}, auth...)
	s.want(t, 400, "POST", "/callbacks/status", map[string]any{"status": "nonsense", "message": "m"}, auth...)
	s.want(t, 200, "POST", "/callbacks/system-info", map[string]any{"os_name": "debian", "agent_id": 7}, auth...)
	s.want(t, 400, "POST", "/callbacks/system-info", map[string]any{"agent_id": 8}, auth...)
	s.want(t, 200, "POST", "/callbacks/status", map[string]any{"status": "idle", "message": "up", "agent_id": 7}, auth...)
	s.want(t, 401, "POST", "/callbacks/status", map[string]any{"status": "idle"}, auth...)
	got := s.want(t, 200, "GET", "/instances/GARM-ONE", nil)
	if got["runner_status"] != "idle" || got["os_name"] != "debian" || got["agent_id"] != 7.0 || len(got["status_messages"].([]any)) != 3 {
		t.Errorf("the instance is %v", got)
	}
}

// TestRegistrationToken: it is given once, and again for a short while, since an answer can be lost; where the forge
// fails, nothing is marked.
// A machine cannot make its instance large.
func TestReportsAreKeptShort(t *testing.T) {
	s := ready(t, nil)
	row, token := s.runner(t, true)
	auth := []string{"Authorization", "Bearer " + token}
	long := "a" + strings.Repeat("é", 1<<18)
	s.want(t, 200, "POST", "/callbacks/status", map[string]any{"status": "installing", "message": long}, auth...)
	s.want(t, 200, "POST", "/callbacks/system-info", map[string]any{"os_name": long, "os_version": long}, auth...)
	_, text := s.do(t, "GET", "/instances/"+row.Name, nil)
	if len(text) > 16<<10 || !strings.Contains(text, "aéé") || strings.Contains(text, `\ufffd`) {
		t.Errorf("the instance takes %d bytes: %.300s", len(text), text)
	}
}

// A report that comes in while its machine is given up says nothing about the next one.
func TestReportOfAnEarlierAttemptIsRefused(t *testing.T) {
	s := ready(t, nil)
	row, _ := s.runner(t, true)
	if _, err := s.store.UpdateInstance(t.Context(), row.ID, func(i *model.Instance) error { i.CreateAttempt++; return nil }); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"status": s.svc.ReportStatus(t.Context(), row, model.RunnerFailed, "it broke down", 7),
		"system": s.svc.ReportSystem(t.Context(), row, "debian", "12", 7),
	} {
		if model.KindOf(err) != model.KindUnauthorized {
			t.Errorf("%s: %v", name, err)
		}
	}
	now, err := s.store.Instance(t.Context(), row.ID)
	if err != nil || now.RunnerStatus != row.RunnerStatus || now.OSName != row.OSName || now.AgentID != row.AgentID {
		t.Errorf("the next attempt was changed: %v, %+v", err, now)
	}
}

func TestRegistrationToken(t *testing.T) {
	s := ready(t, nil)
	now := time.Now()
	s.svc.Now = func() time.Time { return now }
	row, token := s.runner(t, false)
	auth := []string{"Authorization", "Bearer " + token}
	for range 2 {
		if response, text := s.do(t, "GET", "/metadata/runner-registration-token", nil, auth...); response.StatusCode != 200 || text != "REGISTRATION" {
			t.Errorf("the token comes as %d %s", response.StatusCode, text)
		}
	}
	now = now.Add(3 * time.Minute)
	s.want(t, 401, "GET", "/metadata/runner-registration-token", nil, auth...)
	if _, err := s.store.UpdateInstance(t.Context(), row.ID, func(i *model.Instance) error { i.CreateAttempt++; return nil }); err != nil {
		t.Fatal(err)
	}
	s.want(t, 401, "GET", "/metadata/runner-registration-token", nil, auth...)
	if s.engine.registrations != 2 {
		t.Errorf("the forge was asked %d times", s.engine.registrations)
	}
}

func TestRunnerFiles(t *testing.T) {
	s := ready(t, nil)
	_, token := s.runner(t, true)
	auth := []string{"Authorization", "Bearer " + token}
	for path, want := range map[string]string{
		"/metadata/credentials/runner":                  `{"agentId":42}`,
		"/metadata/system/service-name":                 "actions.runner.acme.widgets",
		"/metadata/systemd/unit-file?runAsUser=builder": "ExecStart=/home/builder/actions-runner/runsvc.sh",
		"/metadata/system/cert-bundle":                  `"root_certificates":{}`,
	} {
		if response, text := s.do(t, "GET", path, nil, auth...); response.StatusCode != 200 || !strings.Contains(text, want) {
			t.Errorf("%s answers %d %s, want %s", path, response.StatusCode, text, want)
		}
	}
	s.want(t, 404, "GET", "/metadata/credentials/absent", nil, auth...)
	s.want(t, 401, "GET", "/metadata/runner-registration-token", nil, auth...)
	s.want(t, 400, "GET", "/metadata/systemd/unit-file?runAsUser=a%0Ab", nil, auth...)
	s.want(t, 401, "GET", "/metadata/no-such", nil, auth...)
}
