package githubsim_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v88/github"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim/runnerapi"
)

func TestJITConfig(t *testing.T) {
	s := start(t, githubsim.Options{})
	gh := client(t, s, "any")
	request := &github.GenerateJITConfigRequest{Name: "one", RunnerGroupID: 1, Labels: []string{"small"}}
	config, _, err := gh.Actions.GenerateRepoJITConfig(t.Context(), "octo-org", "road-map", request)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(config.GetEncodedJITConfig())
	if err != nil {
		t.Fatal(err)
	}
	var files runnerapi.Files
	if err := json.Unmarshal(raw, &files); err != nil {
		t.Fatal(err)
	}
	var settings runnerapi.Settings
	if err := json.Unmarshal(files[".runner"], &settings); err != nil {
		t.Fatal(err)
	}
	if settings.AgentID != config.GetRunner().GetID() || settings.AgentName != "one" || settings.GitHubURL != s.URL()+"/octo-org/road-map" {
		t.Errorf("settings are of another runner: %+v", settings)
	}
	for _, name := range []string{".credentials", ".credentials_rsaparams"} {
		if len(files[name]) == 0 {
			t.Errorf("file %s is missing", name)
		}
	}
	if config.GetRunner().GetStatus() != "offline" {
		t.Errorf("a runner that has not connected is %s", config.GetRunner().GetStatus())
	}
	_, response, err := gh.Actions.GenerateRepoJITConfig(t.Context(), "Octo-Org", "Road-Map", request)
	if err == nil || status(response) != http.StatusConflict {
		t.Errorf("taken name: got %d %v, want 409", status(response), err)
	}
	request.RunnerGroupID = 7
	_, response, _ = gh.Actions.GenerateRepoJITConfig(t.Context(), "octo-org", "other", request)
	if status(response) != http.StatusUnprocessableEntity {
		t.Errorf("unknown group: got %d, want 422", status(response))
	}
	if got := s.CallsTo("POST", "/actions/runners/generate-jitconfig"); got != 3 {
		t.Errorf("%d calls counted, want 3", got)
	}
	if got := s.Calls()["POST /repos/{owner}/{repo}/actions/runners/generate-jitconfig"]; got != 3 {
		t.Errorf("%d calls counted by route, want 3", got)
	}
}

func TestRunnersArePaged(t *testing.T) {
	s := start(t, githubsim.Options{})
	gh := client(t, s, "any")
	for i := range 7 {
		request := &github.GenerateJITConfigRequest{Name: fmt.Sprintf("r%d", i), RunnerGroupID: 1, Labels: []string{"x"}}
		if _, _, err := gh.Actions.GenerateOrgJITConfig(t.Context(), "octo-org", request); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	pages := 0
	options := &github.ListRunnersOptions{ListOptions: github.ListOptions{PerPage: 3}}
	for {
		list, response, err := gh.Actions.ListOrganizationRunners(t.Context(), "octo-org", options)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		if list.TotalCount != 7 {
			t.Errorf("total is %d, want 7", list.TotalCount)
		}
		for _, r := range list.Runners {
			names = append(names, r.GetName())
		}
		if response.NextPage == 0 {
			break
		}
		options.Page = response.NextPage
	}
	if diff := cmp.Diff([]string{"r0", "r1", "r2", "r3", "r4", "r5", "r6"}, names); diff != "" || pages != 3 {
		t.Errorf("runners over %d pages (-want +got):\n%s", pages, diff)
	}
	first := s.Runners(githubsim.OrganizationScope("octo-org"))[0]
	if _, err := gh.Actions.RemoveOrganizationRunner(t.Context(), "octo-org", first.ID); err != nil {
		t.Fatal(err)
	}
	if response, _ := gh.Actions.RemoveOrganizationRunner(t.Context(), "octo-org", first.ID); status(response) != http.StatusNotFound {
		t.Errorf("second removal: got %d, want 404", status(response))
	}
	if _, response, _ := gh.Actions.GetOrganizationRunner(t.Context(), "other-org", first.ID+1); status(response) != http.StatusNotFound {
		t.Errorf("runner of another organization: got %d, want 404", status(response))
	}
}

func TestBothAddressStyles(t *testing.T) {
	s := start(t, githubsim.Options{})
	for _, prefix := range []string{"", "/api/v3"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+prefix+"/orgs/octo-org/actions/runners/downloads", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "token any")
		response, err := httpClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("prefix %q: status %d", prefix, response.StatusCode)
		}
	}
	if got := s.Calls()["GET /orgs/{org}/actions/runners/downloads"]; got != 2 {
		t.Errorf("%d calls counted, want 2", got)
	}
}

func TestTokens(t *testing.T) {
	s := start(t, githubsim.Options{Tokens: map[string]githubsim.Token{"good": {Login: "bot"}}})
	call := func(token string) int {
		_, response, _ := client(t, s, token).Actions.CreateOrganizationRegistrationToken(t.Context(), "octo-org")
		return status(response)
	}
	if got := call("good"); got != http.StatusCreated {
		t.Errorf("good token: %d", got)
	}
	if got := call("bad"); got != http.StatusUnauthorized {
		t.Errorf("bad token: %d, want 401", got)
	}
	s.RevokeToken("good")
	_, response, err := client(t, s, "good").Actions.CreateOrganizationRegistrationToken(t.Context(), "octo-org")
	var failure *github.ErrorResponse
	if status(response) != http.StatusUnauthorized || !errors.As(err, &failure) || failure.Message != "Bad credentials" {
		t.Errorf("revoked token: %d %v", status(response), err)
	}
}

func TestNamesThatFail(t *testing.T) {
	s := start(t, githubsim.Options{})
	gh := client(t, s, "any")
	for name, want := range map[string]int{"unauthorized-org": 401, "Forbidden": 403, "absent": 404, "present": 200} {
		if _, response, _ := gh.Actions.ListOrganizationRunners(t.Context(), name, nil); status(response) != want {
			t.Errorf("%s: got %d, want %d", name, status(response), want)
		}
	}
}

func TestRateLimit(t *testing.T) {
	s := start(t, githubsim.Options{RateLimit: 2})
	gh := client(t, s, "any")
	for want := 1; want >= 0; want-- {
		_, response, err := gh.Actions.ListOrganizationRunners(t.Context(), "octo-org", nil)
		if err != nil || response.Rate.Limit != 2 || response.Rate.Remaining != want {
			t.Fatalf("got %+v %v, want %d remaining", response.Rate, err, want)
		}
	}
	// A client of its own, since go-github refuses by itself what it knows to be limited.
	_, response, err := client(t, s, "any").Actions.ListOrganizationRunners(t.Context(), "octo-org", nil)
	var limited *github.RateLimitError
	if !errors.As(err, &limited) || status(response) != http.StatusForbidden {
		t.Fatalf("got %d %v, want a rate limit error", status(response), err)
	}
	if until := time.Until(limited.Rate.Reset.Time); until < 50*time.Minute || until > 61*time.Minute {
		t.Errorf("reset is %s away", until)
	}
	rates, _, err := client(t, s, "any").RateLimit.Get(t.Context())
	if err != nil || rates.Core.Used != 2 || rates.Core.Remaining != 0 {
		t.Errorf("rate limit shows %+v %v", rates, err)
	}
	s.SetRateLimit("any", 2, 2, time.Now().Add(time.Hour))
	if _, _, err := client(t, s, "any").Actions.ListOrganizationRunners(t.Context(), "octo-org", nil); err != nil {
		t.Errorf("after the renewal: %v", err)
	}
}

func TestSecondaryRateLimit(t *testing.T) {
	s := start(t, githubsim.Options{})
	if _, err := s.AddFault(githubsim.SecondaryRateLimit("actions/runners$", 7*time.Second, 1)); err != nil {
		t.Fatal(err)
	}
	_, _, err := client(t, s, "any").Actions.ListOrganizationRunners(t.Context(), "octo-org", nil)
	var limited *github.AbuseRateLimitError
	if !errors.As(err, &limited) || limited.RetryAfter == nil || *limited.RetryAfter != 7*time.Second {
		t.Fatalf("got %v, want a secondary rate limit of 7s", err)
	}
	if _, _, err := client(t, s, "any").Actions.ListOrganizationRunners(t.Context(), "octo-org", nil); err != nil {
		t.Errorf("after the fault: %v", err)
	}
}

func TestAppInstallationTokens(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, githubsim.Options{
		Tokens: map[string]githubsim.Token{},
		Apps:   []githubsim.App{{ID: 5, PublicKey: &key.PublicKey, Installations: []int64{55}}},
	})
	call := func(app, installation int64, key *rsa.PrivateKey) error {
		data := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
		transport, err := ghinstallation.New(http.DefaultTransport, app, installation, data)
		if err != nil {
			t.Fatal(err)
		}
		transport.BaseURL = s.URL() + "/api/v3"
		gh, err := github.NewClient(github.WithTransport(transport), github.WithEnterpriseURLs(s.URL(), s.URL()))
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = gh.Actions.ListOrganizationRunners(t.Context(), "octo-org", nil)
		return err
	}
	if err := call(5, 55, key); err != nil {
		t.Errorf("installed app: %v", err)
	}
	for name, err := range map[string]error{
		"key of somebody else": call(5, 55, other), "unknown app": call(6, 55, key), "not installed there": call(5, 56, key),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestGroupsAndDownloads(t *testing.T) {
	s := start(t, githubsim.Options{RunnerGroups: []string{"build"}})
	gh := client(t, s, "any")
	groups, _, err := gh.Actions.ListOrganizationRunnerGroups(t.Context(), "octo-org", nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range groups.RunnerGroups {
		names = append(names, fmt.Sprintf("%d %s", g.GetID(), g.GetName()))
	}
	if diff := cmp.Diff([]string{"1 Default", "2 build"}, names); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	downloads, _, err := gh.Actions.ListOrganizationRunnerApplicationDownloads(t.Context(), "octo-org")
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(downloads, func(d *github.RunnerApplicationDownload) bool {
		return d.GetOS() == "linux" && d.GetArchitecture() == "x64"
	})
	if at < 0 {
		t.Fatal("no runner program for linux x64")
	}
	response, err := httpClient.Get(downloads[at].GetDownloadURL())
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("download: status %d", response.StatusCode)
	}
}

func TestFaults(t *testing.T) {
	s := start(t, githubsim.Options{})
	gh := client(t, s, "any")
	request := &github.GenerateJITConfigRequest{Name: "one", RunnerGroupID: 1, Labels: []string{"x"}}

	control(t, s, "POST", "/_sim/faults", `{"match":"^POST .*/generate-jitconfig$","status":502,"count":2}`, 201, nil)
	for range 2 {
		if _, response, _ := gh.Actions.GenerateOrgJITConfig(t.Context(), "octo-org", request); status(response) != http.StatusBadGateway {
			t.Errorf("got %d, want 502", status(response))
		}
	}
	if got := len(s.Runners("")); got != 0 {
		t.Errorf("a refused request registered %d runners", got)
	}

	t.Run("an answer that gets lost", func(t *testing.T) {
		if _, err := s.AddFault(githubsim.Fault{Match: "generate-jitconfig$", Drop: true, Apply: true, Count: 1}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := gh.Actions.GenerateOrgJITConfig(t.Context(), "octo-org", request); err == nil {
			t.Error("the answer arrived")
		}
		if got := len(s.Runners(githubsim.OrganizationScope("octo-org"))); got != 1 {
			t.Errorf("%d runners registered, want 1", got)
		}
	})
	t.Run("what met a fault is told, and which fault nothing met", func(t *testing.T) {
		calls := s.RecentCalls()
		if last := calls[len(calls)-1]; !last.Fault || last.Status != 0 {
			t.Errorf("the last call is %+v, want one that a fault dropped", last)
		}
		for _, f := range []githubsim.Fault{{Match: "nowhere", Status: 500}, {Match: "actions/runners$", Delay: 1}} {
			if _, err := s.AddFault(f); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := gh.Actions.ListOrganizationRunners(t.Context(), "octo-org", nil); err != nil {
			t.Fatal(err)
		}
		calls = s.RecentCalls()
		if last := calls[len(calls)-1]; last.Fault || last.Status != http.StatusOK {
			t.Errorf("the last call is %+v, want one that was only delayed", last)
		}
		if unmet := s.UnmetFaults(); len(unmet) != 1 || unmet[0].Match != "nowhere" {
			t.Errorf("unmet are %+v, want the one of nowhere", unmet)
		}
	})
	t.Run("bad faults are refused", func(t *testing.T) {
		for _, body := range []string{`{}`, `{"match":"("}`, `{"match":"x","status":99}`, `{"match":"x","delay":"soon"}`} {
			control(t, s, "POST", "/_sim/faults", body, 400, nil)
		}
	})
}

func TestHooks(t *testing.T) {
	s := start(t, githubsim.Options{})
	gh := client(t, s, "any")
	wanted := &github.Hook{
		Events: []string{"workflow_job"}, Active: github.Ptr(true),
		Config: &github.HookConfig{URL: github.Ptr("http://127.0.0.1:1/webhooks"), ContentType: github.Ptr("json"), Secret: github.Ptr("hook-secret"), InsecureSSL: github.Ptr("0")},
	}
	hook, _, err := gh.Repositories.CreateHook(t.Context(), "octo-org", "road-map", wanted)
	if err != nil {
		t.Fatal(err)
	}
	if got := hook.GetConfig().GetSecret(); got != "********" {
		t.Errorf("the secret is shown as %q", got)
	}
	if _, response, _ := gh.Repositories.CreateHook(t.Context(), "octo-org", "road-map", wanted); status(response) != http.StatusUnprocessableEntity {
		t.Errorf("the same hook again: %d, want 422", status(response))
	}
	list, _, err := gh.Repositories.ListHooks(t.Context(), "octo-org", "road-map", nil)
	if err != nil || len(list) != 1 || list[0].GetID() != hook.GetID() {
		t.Errorf("list is %v %v", list, err)
	}
	if list, _, _ := gh.Organizations.ListHooks(t.Context(), "octo-org", nil); len(list) != 0 {
		t.Errorf("the organization has %d hooks", len(list))
	}
	if _, err := gh.Repositories.PingHook(t.Context(), "octo-org", "road-map", hook.GetID()); err != nil {
		t.Error(err)
	}
	if _, err := gh.Repositories.DeleteHook(t.Context(), "octo-org", "road-map", hook.GetID()); err != nil {
		t.Error(err)
	}
	if _, response, _ := gh.Repositories.GetHook(t.Context(), "octo-org", "road-map", hook.GetID()); status(response) != http.StatusNotFound {
		t.Errorf("removed hook: %d, want 404", status(response))
	}
}
