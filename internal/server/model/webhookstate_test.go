package model_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Whatever is rotated and told in whatever order, the secret that the forge has is accepted.
func TestOP52TheSecretOfTheForgeIsAlwaysAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1_000_000, 0)
		s := model.WebhookState{Secret: []byte("a")}
		forge := "a"
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 120).Draw(t, "seconds")) * time.Second)
			switch rapid.SampledFrom([]string{"rotate", "tell", "tell, and crash"}).Draw(t, "step") {
			case "rotate":
				s.Rotate([]byte(rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "secret")), true)
			case "tell":
				forge = string(s.Secret)
				s.Told(s.Secret, now)
			case "tell, and crash":
				forge = string(s.Secret)
			}
			accepted := s.Accepted(now)
			if !slices.ContainsFunc(accepted, func(secret []byte) bool { return string(secret) == forge }) {
				t.Fatalf("the forge signs by %q, accepted are %q", forge, accepted)
			}
		}
	})
}

func TestOldSecretsEnd(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	s := model.WebhookState{Secret: []byte("first")}
	if s.Rotate([]byte("first"), true) || s.Waiting() {
		t.Error("the same secret counts as another one")
	}
	s.Rotate([]byte("second"), true)
	s.Told([]byte("first"), now)
	if !s.Waiting() {
		t.Error("told an old secret, the forge counts as told")
	}
	s.Told([]byte("second"), now)
	if got := len(s.Accepted(now.Add(model.OldSecretGrace - 1))); s.Waiting() || got != 2 {
		t.Errorf("%d secrets accepted in the grace", got)
	}
	if got := s.Accepted(now.Add(model.OldSecretGrace)); len(got) != 1 || string(got[0]) != "second" {
		t.Errorf("%d secrets accepted after the grace", len(got))
	}
	s.Rotate([]byte("third"), false)
	if got := len(s.Accepted(now)); got != 1 {
		t.Errorf("%d secrets accepted where none is to be kept", got)
	}
}

func TestOldSecretsAreBounded(t *testing.T) {
	s := model.WebhookState{Secret: []byte("first")}
	for i := range 50 {
		s.Rotate([]byte(fmt.Sprint(i)), true)
	}
	if len(s.Old) > 10 || string(s.Old[0]) != "first" {
		t.Errorf("%d old secrets, the first is %q", len(s.Old), s.Old[0])
	}
	for _, shown := range []string{fmt.Sprint(s), fmt.Sprintf("%+v", s), fmt.Sprintf("%#v", s)} {
		if strings.Contains(shown, "first") {
			t.Error("a secret is printed")
		}
	}
}
