package server_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	wire "github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
	"github.com/garm-operator/garm-operator/internal/server/fleet"
)

// delivered waits until the forge has delivered so many events of a kind that were taken.
func (w *world) delivered(event string, n int) {
	w.t.Helper()
	w.await(func() error {
		taken := 0
		for _, d := range w.github.Deliveries() {
			if d.Event == event && d.Status == http.StatusOK {
				taken++
			}
		}
		if taken < n {
			return fmt.Errorf("%d of %d deliveries of %s were taken: %+v", taken, n, event, w.github.Deliveries())
		}
		return nil
	})
}

// A webhook that the server installs brings jobs, with the new secret, too, and goes with its organization.
func TestInstalledWebhookBringsJobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{webhooks: true, limits: fleet.Limits{SweepEvery: time.Hour}})
	url := w.url + "/webhooks"
	if _, err := w.client.UpdateController(t.Context(), wire.UpdateControllerParams{WebhookURL: &url}); err != nil {
		t.Fatal(err)
	}
	orgs, err := w.client.ListOrganizations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	org := orgs[0]
	hook, err := w.client.InstallOrganizationWebhook(t.Context(), org.ID, wire.InstallWebhookParams{WebhookEndpointType: wire.WebhookDirect})
	if err != nil {
		t.Fatal(err)
	}
	installed := w.github.Hooks()
	if len(installed) != 1 || installed[0].ID != hook.ID || installed[0].Secret != hookSecret || !strings.HasPrefix(installed[0].URL, url+"/") {
		t.Fatalf("hooks: %+v", installed)
	}
	w.delivered("ping", 2) // GitHub's own, and the one that is asked for
	w.pool(func(*wire.CreatePoolParams) {})
	job := githubsim.JobSpec{Repo: "acme/shop", Labels: []string{"linux", "x64"}}
	if _, err := w.github.QueueJob(job); err != nil {
		t.Fatal(err)
	}
	w.delivered("workflow_job", 1)
	w.settled(1, wire.InstanceRunning)
	if _, err := w.client.UpdateOrganization(t.Context(), org.ID, wire.UpdateEntityParams{WebhookSecret: "another"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.github.QueueJob(job); err != nil {
		t.Fatal(err)
	}
	w.delivered("workflow_job", 2)
	w.settled(2, wire.InstanceRunning)
	if again := w.github.Hooks(); len(again) != 1 || again[0].Secret != "another" || again[0].ID != hook.ID {
		t.Errorf("hooks: %+v", again)
	}
	bare := w.organization("bare", "main")
	if _, err := w.client.InstallOrganizationWebhook(t.Context(), bare.ID, wire.InstallWebhookParams{}); err != nil {
		t.Fatal(err)
	}
	if err := w.client.DeleteOrganization(t.Context(), bare.ID); err != nil {
		t.Fatal(err)
	}
	if left := w.github.Hooks(); len(left) != 1 {
		t.Errorf("hooks: %+v", left)
	}
	if log := w.log.String(); strings.Contains(log, hookSecret) {
		t.Error("the log has the secret")
	}
}

// OP-52: a forge that cannot be told a new secret signs by the old one, and no job is lost. A server that is killed meanwhile
// tells the forge when it starts.
func TestOP52RotationOfAWebhookSecretSurvivesAKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{outside: true, webhooks: true})
	server := w.program()
	w.setUp(options{})
	url := w.url + "/webhooks"
	if _, err := w.client.UpdateController(t.Context(), wire.UpdateControllerParams{WebhookURL: &url}); err != nil {
		t.Fatal(err)
	}
	orgs, err := w.client.ListOrganizations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	org := orgs[0].ID
	if _, err := w.client.InstallOrganizationWebhook(t.Context(), org, wire.InstallWebhookParams{}); err != nil {
		t.Fatal(err)
	}
	w.pool(func(*wire.CreatePoolParams) {})
	if _, err := w.github.AddFault(githubsim.Fault{Match: "^PATCH .*/hooks/", Status: 502}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.UpdateOrganization(t.Context(), org, wire.UpdateEntityParams{WebhookSecret: "another-secret"}); err != nil {
		t.Fatal(err)
	}
	kill(server)
	server = w.program()
	if hooks := w.github.Hooks(); len(hooks) != 1 || hooks[0].Secret != hookSecret {
		t.Fatalf("hooks: %+v", hooks)
	}
	job := githubsim.JobSpec{Repo: "acme/shop", Labels: []string{"linux", "x64"}}
	if _, err := w.github.QueueJob(job); err != nil {
		t.Fatal(err)
	}
	w.delivered("workflow_job", 1)
	w.settled(1, wire.InstanceRunning)
	kill(server)

	w.github.ClearFaults()
	w.program()
	w.await(func() error {
		if hooks := w.github.Hooks(); len(hooks) != 1 || hooks[0].Secret != "another-secret" {
			return fmt.Errorf("hooks: %+v", hooks)
		}
		return nil
	})
	if _, err := w.github.QueueJob(job); err != nil {
		t.Fatal(err)
	}
	w.delivered("workflow_job", 2)
	w.settled(2, wire.InstanceRunning)
	text, err := os.ReadFile(filepath.Join(w.dir, "garm.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{hookSecret, "another-secret"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the log shows %q", secret)
		}
	}
}

// SV-34: what the forge refuses has a reason that says what to do, and is never taken for a login here.
func TestSV34ForgeRefusesTheWebhook(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{webhooks: true})
	url := w.url + "/webhooks"
	if _, err := w.client.UpdateController(t.Context(), wire.UpdateControllerParams{WebhookURL: &url}); err != nil {
		t.Fatal(err)
	}
	org := w.organization("other", "main")
	for _, test := range []struct {
		fault githubsim.Fault
		want  wire.ErrorKind
		says  string
	}{
		{githubsim.Fault{Match: "^GET .*/hooks$", Status: 404}, wire.KindInvalid, "admin:org_hook"},
		{githubsim.Fault{Match: "^POST .*/hooks$", Status: 403}, wire.KindInvalid, "admin:org_hook"},
		{githubsim.Fault{Match: "^POST .*/hooks$", Status: 502, Count: 1}, wire.KindUnavailable, "502"},
		{githubsim.Fault{Match: "^POST .*/hooks$", Drop: true}, wire.KindUnavailable, "GitHub answers nothing"},
		{githubsim.Fault{Match: "^POST .*/hooks$", Status: 422, Body: `{"message":"Validation Failed","errors":[{"message":"Hook already exists on this organization"}]}`}, wire.KindConflict, "already exists"},
	} {
		w.github.ClearFaults()
		if _, err := w.github.AddFault(test.fault); err != nil {
			t.Fatal(err)
		}
		_, err := w.client.InstallOrganizationWebhook(t.Context(), org.ID, wire.InstallWebhookParams{})
		if wire.KindOf(err) != test.want || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v: %v, want %s and %q", test.fault, err, test.want, test.says)
		}
	}
	w.github.ClearFaults()
	if _, err := w.client.InstallOrganizationWebhook(t.Context(), org.ID, wire.InstallWebhookParams{}); err != nil {
		t.Errorf("without faults: %v", err)
	}
}
