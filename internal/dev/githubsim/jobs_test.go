package githubsim_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v88/github"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
	"github.com/garm-operator/garm-operator/internal/dev/simrunner"
)

// receiver is where hooks point to.
type receiver struct {
	url string

	mu     sync.Mutex
	events []received
}

type received struct {
	target, action string
	event          *github.WorkflowJobEvent
}

func newReceiver(t *testing.T, secret string) *receiver {
	t.Helper()
	r := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		if got, want := request.Header.Get("X-Hub-Signature-256"), "sha256="+hex.EncodeToString(mac.Sum(nil)); got != want {
			t.Errorf("signature is %q, want %q", got, want)
		}
		event, err := github.ParseWebHook(request.Header.Get("X-Github-Event"), body)
		if err != nil {
			t.Error(err)
		}
		if job, ok := event.(*github.WorkflowJobEvent); ok {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, received{request.Header.Get("X-Github-Hook-Installation-Target-Type"), job.GetAction(), job})
		}
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// runner starts a simulated runner with a just-in-time configuration and returns its end.
func runner(ctx context.Context, t *testing.T, s *githubsim.Server, name string, labels ...string) <-chan error {
	t.Helper()
	token, _, err := client(t, s, "any").Actions.CreateOrganizationRegistrationToken(t.Context(), "octo-org")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	err = simrunner.Configure(t.Context(), simrunner.Configuration{
		Dir: dir, URL: s.URL() + "/octo-org", Token: token.GetToken(), Name: name, Labels: labels, NoDefaultLabels: true, Ephemeral: true,
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- simrunner.Run(ctx, dir, io.Discard) }()
	return ended
}

func result(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("the runner does not end")
		return nil
	}
}

func online(s *githubsim.Server, want int) func() bool {
	return func() bool {
		count := 0
		for _, r := range s.Runners("") {
			if r.Online {
				count++
			}
		}
		return count == want
	}
}

func isStatus(s *githubsim.Server, id int64, want githubsim.JobStatus) func() bool {
	return func() bool {
		job, _ := s.Job(id)
		return job.Status == want
	}
}

func TestJobRunsAndHooksAreTold(t *testing.T) {
	s := start(t, githubsim.Options{Enterprises: map[string]string{"octo-org": "octo-enterprise"}})
	hooks := newReceiver(t, "hook-secret")
	for _, scope := range []githubsim.Scope{
		githubsim.RepositoryScope("octo-org", "road-map"), githubsim.OrganizationScope("octo-org"), githubsim.EnterpriseScope("octo-enterprise"),
		githubsim.RepositoryScope("octo-org", "other"), githubsim.OrganizationScope("other-org"),
	} {
		if _, err := s.AddHook(githubsim.Hook{Scope: scope, URL: hooks.url, Secret: "hook-secret"}); err != nil {
			t.Fatal(err)
		}
	}
	ended := runner(t.Context(), t, s, "one", "small", "linux")
	waitFor(t, s, "runner online", online(s, 1))
	agent := s.Runners("")[0].ID

	var jobs []githubsim.Job
	control(t, s, "POST", "/_sim/jobs", `{"repo":"octo-org/road-map","labels":["Small"],"duration":"10ms"}`, 201, &jobs)
	id := jobs[0].ID
	waitFor(t, s, "job completed", isStatus(s, id, githubsim.Completed))
	if err := result(t, ended); err != nil {
		t.Errorf("runner: %v", err)
	}
	waitFor(t, s, "deliveries", func() bool {
		done := 0
		for _, d := range s.Deliveries() {
			if d.Done && d.Status == http.StatusOK {
				done++
			}
		}
		return done == 9
	})
	if got := s.Runners(""); len(got) != 0 {
		t.Errorf("the ephemeral runner is still there: %v", got)
	}
	actions := map[string][]string{}
	hooks.mu.Lock()
	defer hooks.mu.Unlock()
	for _, r := range hooks.events {
		actions[r.target] = append(actions[r.target], r.action)
		job := r.event.GetWorkflowJob()
		if job.GetID() != id || r.event.GetRepo().GetFullName() != "octo-org/road-map" || r.event.GetOrg().GetLogin() != "octo-org" {
			t.Errorf("event is about something else: %v", r.event)
		}
		if r.action != "queued" && (job.GetRunnerName() != "one" || job.GetRunnerID() != agent) {
			t.Errorf("%s names runner %d %q", r.action, job.GetRunnerID(), job.GetRunnerName())
		}
		if r.action == "completed" && job.GetConclusion() != "success" {
			t.Errorf("conclusion is %q", job.GetConclusion())
		}
	}
	all := []string{"queued", "in_progress", "completed"}
	if diff := cmp.Diff(map[string][]string{"repository": all, "organization": all, "business": all}, actions); diff != "" {
		t.Errorf("actions by target (-want +got):\n%s", diff)
	}
	job, _, err := client(t, s, "any").Actions.GetWorkflowJobByID(t.Context(), "octo-org", "road-map", id)
	if err != nil || job.GetStatus() != "completed" {
		t.Errorf("job by the API: %v %v", job, err)
	}
}

func TestJobWaitsForARunnerThatFits(t *testing.T) {
	s := start(t, githubsim.Options{})
	job, err := s.QueueJob(githubsim.JobSpec{Repo: "octo-org/road-map", Labels: []string{"big"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	small := runner(ctx, t, s, "small", "small")
	waitFor(t, s, "small runner online", online(s, 1))
	if got, _ := s.Job(job.ID); got.Status != githubsim.Queued {
		t.Errorf("the job went to a runner without its label: %+v", got)
	}
	big := runner(t.Context(), t, s, "big", "big", "linux")
	waitFor(t, s, "job completed", isStatus(s, job.ID, githubsim.Completed))
	if err := result(t, big); err != nil {
		t.Error(err)
	}
	cancel()
	if err := result(t, small); err != nil {
		t.Errorf("an idle runner that is told to end: %v", err)
	}
	waitFor(t, s, "small runner offline", online(s, 0))
	if got := len(s.Runners("")); got != 1 {
		t.Errorf("%d runners are registered, want the offline one", got)
	}
}

func TestBusyRunnerCannotBeRemoved(t *testing.T) {
	s := start(t, githubsim.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := runner(ctx, t, s, "one", "small")
	job, err := s.QueueJob(githubsim.JobSpec{Repo: "octo-org/road-map", Labels: []string{"small"}, Duration: githubsim.Duration(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, s, "job in progress", isStatus(s, job.ID, githubsim.InProgress))
	response, err := client(t, s, "any").Actions.RemoveOrganizationRunner(t.Context(), "octo-org", s.Runners("")[0].ID)
	var refused *github.ErrorResponse
	if status(response) != http.StatusUnprocessableEntity || !errors.As(err, &refused) || refused.Message != `Bad request - Runner "one" is still running a job` {
		t.Errorf("got %d %v, want 422", status(response), err)
	}
	cancel()
	if err := result(t, ended); err != nil {
		t.Error(err)
	}
	waitFor(t, s, "job completed", isStatus(s, job.ID, githubsim.Completed))
	if got, _ := s.Job(job.ID); got.Conclusion != "cancelled" {
		t.Errorf("conclusion of the interrupted job is %q", got.Conclusion)
	}
}

func TestJobsCanBeCancelled(t *testing.T) {
	s := start(t, githubsim.Options{})
	long := githubsim.JobSpec{Repo: "octo-org/road-map", Labels: []string{"small"}, Duration: githubsim.Duration(time.Hour)}
	running, err := s.QueueJob(long)
	if err != nil {
		t.Fatal(err)
	}
	waiting, err := s.QueueJob(long)
	if err != nil {
		t.Fatal(err)
	}
	ended := runner(t.Context(), t, s, "one", "small")
	waitFor(t, s, "job in progress", isStatus(s, running.ID, githubsim.InProgress))
	for _, id := range []int64{running.ID, waiting.ID} {
		if err := s.CancelJob(id); err != nil {
			t.Fatal(err)
		}
		if got, _ := s.Job(id); got.Conclusion != "cancelled" {
			t.Errorf("job %d ended with %q", id, got.Conclusion)
		}
	}
	if err := result(t, ended); err != nil {
		t.Errorf("runner of the cancelled job: %v", err)
	}
}

func TestRunnerThatIsRemovedEnds(t *testing.T) {
	s := start(t, githubsim.Options{})
	ended := runner(t.Context(), t, s, "one", "small")
	waitFor(t, s, "runner online", online(s, 1))
	if _, err := client(t, s, "any").Actions.RemoveOrganizationRunner(t.Context(), "octo-org", s.Runners("")[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := result(t, ended); !errors.Is(err, simrunner.ErrRemoved) {
		t.Errorf("got %v, want ErrRemoved", err)
	}
}

func TestBadJobsAreRefused(t *testing.T) {
	s := start(t, githubsim.Options{})
	for _, body := range []string{
		`{"repo":"road-map","labels":["x"]}`, `{"repo":"octo-org/road-map"}`, `{"repo":"octo-org/road-map","labels":["x"],"duration":"-1s"}`, `nonsense`,
	} {
		control(t, s, "POST", "/_sim/jobs", body, 400, nil)
	}
	if got := len(s.Jobs()); got != 0 {
		t.Errorf("%d jobs were queued", got)
	}
}

func TestFinishedJobsAreForgotten(t *testing.T) {
	s := start(t, githubsim.Options{History: 3})
	open, err := s.QueueJob(githubsim.JobSpec{Repo: "octo-org/road-map", Labels: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		job, err := s.QueueJob(githubsim.JobSpec{Repo: "octo-org/road-map", Labels: []string{"x"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.CancelJob(job.ID); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(s.Jobs()); got > 5 {
		t.Errorf("%d jobs are kept, want at most 1 open, 3 finished and the one just finished", got)
	}
	if _, found := s.Job(open.ID); !found {
		t.Error("the open job was forgotten")
	}
}

func TestManyRunnersAndJobs(t *testing.T) {
	const count = 40
	s := start(t, githubsim.Options{})
	var ends []<-chan error
	for i := range count {
		ends = append(ends, runner(t.Context(), t, s, fmt.Sprintf("r%d", i), "small"))
		if _, err := s.QueueJob(githubsim.JobSpec{Repo: "octo-org/road-map", Labels: []string{"small"}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, ended := range ends {
		if err := result(t, ended); err != nil {
			t.Error(err)
		}
	}
	byRunner := map[string]int{}
	for _, job := range s.Jobs() {
		if job.Conclusion != "success" {
			t.Errorf("job %d: %+v", job.ID, job)
		}
		byRunner[job.RunnerName]++
	}
	if len(byRunner) != count {
		t.Errorf("%d runners worked, want %d with one job each", len(byRunner), count)
	}
	if left := s.Runners(""); len(left) != 0 {
		t.Errorf("%d ephemeral runners are left", len(left))
	}
}
