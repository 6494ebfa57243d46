package github_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/forge/github"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// A GitHub that fails for hours, or an App that is not installed, costs nothing that lasts longer than the calls.
func TestFailuresLeaveNothingBehind(t *testing.T) {
	for auth, secret := range map[model.AuthType]model.ForgeSecret{model.AuthPAT: {Token: "first"}, model.AuthApp: appSecret(t)} {
		t.Run(string(auth), func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			g := newGHES(t)
			g.fail = func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = w.Write([]byte(`{"message":"` + strings.Repeat("no ", 1000) + `"}`))
				return true
			}
			e := g.entity(model.KindOrganization)
			e.Credentials.AuthType = auth
			forges, f := open(t, secrets{1: secret}, e)
			for op, err := range everyCall(t.Context(), f) {
				if err == nil {
					t.Errorf("%s succeeds", op)
				}
			}
			forges.Close()
			g.Close()
			goleak.VerifyNone(t, before)
		})
	}
}

// GitHub may accept a call and say nothing; that is its failure, while a caller that gives up is told that it did.
func TestNoAnswer(t *testing.T) {
	g := newGHES(t)
	g.fail = func(_ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	}
	forges := github.New(github.Options{Secrets: secrets{1: {Token: "first"}}, Timeout: 100 * time.Millisecond})
	t.Cleanup(forges.Close)
	f, err := forges.Forge(t.Context(), g.entity(model.KindRepository))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Runners(t.Context())
	var failed *fleet.ForgeError
	if !errors.As(err, &failed) || failed.Kind != fleet.ForgeUnavailable || !strings.Contains(err.Error(), "no answer within 100ms") {
		t.Errorf("error %v", err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		t.Error("the error looks as if the caller had run out of time")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Runners(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of a call that was given up", err)
	}
}
