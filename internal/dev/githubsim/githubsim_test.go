package githubsim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-github/v88/github"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
)

var httpClient = &http.Client{Timeout: 20 * time.Second}

func start(t *testing.T, opt githubsim.Options) *githubsim.Server {
	t.Helper()
	s := githubsim.New(opt)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func client(t *testing.T, s *githubsim.Server, token string) *github.Client {
	t.Helper()
	c, err := github.NewClient(github.WithAuthToken(token), github.WithEnterpriseURLs(s.URL(), s.URL()))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func waitFor(t *testing.T, s *githubsim.Server, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := s.WaitFor(ctx, condition); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func status(r *github.Response) int {
	if r == nil {
		return 0
	}
	return r.StatusCode
}

// control calls the control API and decodes the answer into dst.
func control(t *testing.T, s *githubsim.Server, method, path, body string, want int, dst any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := httpClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != want {
		t.Fatalf("%s %s: status %d, want %d", method, path, response.StatusCode, want)
	}
	if dst != nil {
		if err := json.NewDecoder(response.Body).Decode(dst); err != nil {
			t.Fatal(err)
		}
	}
}

// hookServer is a receiver of webhooks that does something before it answers.
func hookServer(t *testing.T, before func()) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { before() }))
	t.Cleanup(server.Close)
	return server.URL
}
