package githubsim_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-github/v88/github"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim/runnerapi"
)

// line is the session of a runner that is played by hand.
type line struct {
	s      *githubsim.Server
	token  string
	read   *bufio.Scanner
	hangUp func()
}

// dial registers a runner just in time and opens its session.
func dial(t *testing.T, s *githubsim.Server, name string) *line {
	t.Helper()
	config, _, err := client(t, s, "any").Actions.GenerateOrgJITConfig(t.Context(), "octo-org",
		&github.GenerateJITConfigRequest{Name: name, RunnerGroupID: 1, Labels: []string{"small"}})
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := base64.StdEncoding.DecodeString(config.GetEncodedJITConfig())
	var files runnerapi.Files
	var credentials runnerapi.Credentials
	if err := json.Unmarshal(raw, &files); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(files[".credentials"], &credentials); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l := &line{s: s, token: credentials.Data.Token, hangUp: cancel}
	response := l.do(ctx, t, http.MethodGet, runnerapi.SessionPath, nil)
	t.Cleanup(func() {
		cancel()
		_ = response.Body.Close()
	})
	l.read = bufio.NewScanner(response.Body)
	if m := l.next(t); m.Type != runnerapi.Connected {
		t.Fatalf("the first message is %+v", m)
	}
	return l
}

func (l *line) do(ctx context.Context, t *testing.T, method, path string, body any) *http.Response {
	t.Helper()
	data, _ := json.Marshal(body)
	request, err := http.NewRequestWithContext(ctx, method, l.s.URL()+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+l.token)
	response, err := (&http.Client{Transport: httpClient.Transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func (l *line) report(t *testing.T, path string, jobID int64) int {
	t.Helper()
	response := l.do(t.Context(), t, http.MethodPost, path, runnerapi.Report{JobID: jobID})
	_ = response.Body.Close()
	return response.StatusCode
}

func (l *line) next(t *testing.T) runnerapi.Message {
	t.Helper()
	var m runnerapi.Message
	if !l.read.Scan() {
		t.Fatalf("the session ended: %v", l.read.Err())
	}
	if err := json.Unmarshal(l.read.Bytes(), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestJobOfARunnerThatIsLostBeforeItStartsGoesToAnother(t *testing.T) {
	s := start(t, githubsim.Options{})
	first := dial(t, s, "first")
	job, err := s.QueueJob(githubsim.JobSpec{Repo: "octo-org/road-map", Labels: []string{"small"}})
	if err != nil {
		t.Fatal(err)
	}
	if m := first.next(t); m.Type != runnerapi.JobAssigned || m.Job.ID != job.ID {
		t.Fatalf("message is %+v", m)
	}
	first.hangUp()
	waitFor(t, s, "first runner offline", online(s, 0))
	second := dial(t, s, "second")
	if m := second.next(t); m.Type != runnerapi.JobAssigned || m.Job.ID != job.ID {
		t.Fatalf("message is %+v", m)
	}
	if got := first.report(t, runnerapi.StartPath, job.ID); got != http.StatusConflict {
		t.Errorf("the lost runner starts the job of another: status %d", got)
	}
	if got := second.report(t, runnerapi.FinishPath, job.ID); got != http.StatusConflict {
		t.Errorf("a job ends before it has started: status %d", got)
	}
	second.report(t, runnerapi.StartPath, job.ID)
	second.report(t, runnerapi.FinishPath, job.ID)
	if got, _ := s.Job(job.ID); got.RunnerName != "second" || got.Conclusion != "success" {
		t.Errorf("job is %+v", got)
	}
}

func TestJobOfARunnerThatIsLostFails(t *testing.T) {
	s := start(t, githubsim.Options{})
	only := dial(t, s, "only")
	job, err := s.QueueJob(githubsim.JobSpec{Repo: "octo-org/road-map", Labels: []string{"small"}})
	if err != nil {
		t.Fatal(err)
	}
	only.next(t)
	only.report(t, runnerapi.StartPath, job.ID)
	only.hangUp()
	waitFor(t, s, "job completed", isStatus(s, job.ID, githubsim.Completed))
	if got, _ := s.Job(job.ID); got.Conclusion != "failure" {
		t.Errorf("conclusion is %q", got.Conclusion)
	}
	runners := s.Runners("")
	if len(runners) != 1 || runners[0].Online || runners[0].Busy {
		t.Errorf("the lost runner is %+v, want it offline and idle in the list", runners)
	}
}

func TestSlowReceiverDelaysNoOther(t *testing.T) {
	s := start(t, githubsim.Options{DeliveryTimeout: 100 * time.Millisecond})
	released := make(chan struct{})
	slow := hookServer(t, func() { <-released })
	t.Cleanup(func() { close(released) })
	var fast int
	quick := hookServer(t, func() {})
	for _, url := range []string{slow, quick} {
		if _, err := s.AddHook(githubsim.Hook{Scope: githubsim.OrganizationScope("octo-org"), URL: url}); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if _, err := s.QueueJob(githubsim.JobSpec{Repo: "octo-org/road-map", Labels: []string{"small"}}); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, s, "all deliveries done", func() bool {
		fast = 0
		done := 0
		for _, d := range s.Deliveries() {
			if d.Done {
				done++
			}
			if d.URL == quick && d.Status == http.StatusOK {
				fast++
			}
		}
		return done == 6
	})
	if fast != 3 {
		t.Errorf("%d deliveries to the quick receiver, want 3", fast)
	}
	for _, d := range s.Deliveries() {
		if d.URL == slow && (d.Status != 0 || d.Error == "") {
			t.Errorf("delivery to the slow receiver: %+v", d)
		}
	}
}
