package simrunner_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v88/github"
	"go.uber.org/goleak"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
	"github.com/garm-operator/garm-operator/internal/dev/simrunner"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func forge(t *testing.T) *githubsim.Server {
	t.Helper()
	s := githubsim.New(githubsim.Options{RunnerGroups: []string{"build"}})
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// configuration registers at octo-org with a good token.
func configuration(t *testing.T, s *githubsim.Server) simrunner.Configuration {
	t.Helper()
	gh, err := github.NewClient(github.WithAuthToken("any"), github.WithEnterpriseURLs(s.URL(), s.URL()))
	if err != nil {
		t.Fatal(err)
	}
	defer gh.Client().CloseIdleConnections()
	token, _, err := gh.Actions.CreateOrganizationRegistrationToken(t.Context(), "octo-org")
	if err != nil {
		t.Fatal(err)
	}
	return simrunner.Configuration{
		Dir: t.TempDir(), URL: s.URL() + "/octo-org", Token: token.GetToken(), Name: "one", Labels: []string{"small"}, Ephemeral: true,
	}
}

func TestConfigureRefusals(t *testing.T) {
	s := forge(t)
	for name, tc := range map[string]struct {
		change func(*simrunner.Configuration)
		want   string
	}{
		"token of another organization": {func(c *simrunner.Configuration) { c.URL = s.URL() + "/other-org" }, "the token is not valid for this address"},
		"wrong token":                   {func(c *simrunner.Configuration) { c.Token = "guess-8f2e" }, "the token is not valid for this address"},
		"no address":                    {func(c *simrunner.Configuration) { c.URL = "octo-org" }, "url is"},
		"unknown group":                 {func(c *simrunner.Configuration) { c.Group = "none" }, "runner group"},
		"configured already": {func(c *simrunner.Configuration) {
			for _, name := range []string{".runner", ".credentials", ".credentials_rsaparams"} {
				content := `{"serverUrl":"http://127.0.0.1:1","data":{"token":"t"}}`
				if err := os.WriteFile(filepath.Join(c.Dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}, "already configured"},
	} {
		t.Run(name, func(t *testing.T) {
			c := configuration(t, s)
			tc.change(&c)
			err := simrunner.Configure(t.Context(), c, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), c.Token) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	if runners := s.Runners(""); len(runners) != 0 {
		t.Errorf("refused runners are registered: %v", runners)
	}
}

func TestRunNeedsItsFiles(t *testing.T) {
	s := forge(t)
	for _, missing := range []string{".runner", ".credentials", ".credentials_rsaparams"} {
		c := configuration(t, s)
		c.Name = "without" + missing
		if err := simrunner.Configure(t.Context(), c, io.Discard); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(c.Dir, missing)); err != nil {
			t.Fatal(err)
		}
		if err := simrunner.Run(t.Context(), c.Dir, io.Discard); err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("without %s: %v", missing, err)
		}
	}
}

func TestLostServerEndsTheRunner(t *testing.T) {
	s := forge(t)
	c := configuration(t, s)
	if err := simrunner.Configure(t.Context(), c, io.Discard); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- simrunner.Run(t.Context(), c.Dir, io.Discard) }()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := s.WaitFor(ctx, func() bool { return s.Runners("")[0].Online }); err != nil {
		t.Fatal(err)
	}
	s.Close()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a runner that lost its server ends as if all were well")
		}
	case <-ctx.Done():
		t.Fatal("the runner does not end")
	}
}

func TestRunnerPrintsWhatTheRealOneDoes(t *testing.T) {
	s := forge(t)
	c := configuration(t, s)
	if err := simrunner.Configure(t.Context(), c, io.Discard); err != nil {
		t.Fatal(err)
	}
	if _, err := s.QueueJob(githubsim.JobSpec{Repo: "octo-org/road-map", Labels: []string{"self-hosted", "small"}, Conclusion: "failure"}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := simrunner.Run(t.Context(), c.Dir, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"√ Connected to GitHub\n", ": Listening for Jobs\n", ": Running job: build\n", ": Job build completed with result: failure\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
}
