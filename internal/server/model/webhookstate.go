package model

import (
	"bytes"
	"slices"
	"time"
)

const (
	// OldSecretGrace is for how long webhooks signed by an old secret are taken after the forge was told the new one: those
	// that were under way when it was.
	OldSecretGrace = time.Minute
	// maxOldSecrets bounds how many are remembered while the forge cannot be told.
	maxOldSecrets = 8
)

// WebhookState is what the server knows of the webhook of an entity. Its secrets are secrets.
type WebhookState struct {
	// Installed says that the server has installed the webhook, so that it has to keep it right.
	Installed bool
	// Secret is the one that the forge should sign by.
	Secret []byte
	// Old are earlier ones by which the forge may still sign. The first is the one that it had when it was last told.
	Old [][]byte
	// ToldAt is when the forge was told Secret after the last change; zero while it has not been.
	ToldAt time.Time
}

// String keeps the secrets out of logs.
func (WebhookState) String() string { return "[redacted]" }

// GoString keeps the secrets out of logs.
func (WebhookState) GoString() string { return "[redacted]" }

// Rotate makes to the secret and says whether it is another one. keep remembers the one before until the forge is told.
func (s *WebhookState) Rotate(to []byte, keep bool) bool {
	if bytes.Equal(s.Secret, to) {
		return false
	}
	old := append(slices.Clone(s.Old), s.Secret)
	s.Secret, s.Old, s.ToldAt = to, nil, time.Time{}
	if !keep {
		return true
	}
	old = slices.DeleteFunc(old, func(secret []byte) bool { return bytes.Equal(secret, to) })
	if len(old) > maxOldSecrets {
		old = slices.Delete(old, 1, 2)
	}
	s.Old = old
	return true
}

// Told notes that the forge signs by secret now. Where that is not the newest one, nothing has been settled.
func (s *WebhookState) Told(secret []byte, now time.Time) {
	if len(s.Old) > 0 && bytes.Equal(s.Secret, secret) && s.ToldAt.IsZero() {
		s.ToldAt = now.UTC()
	}
}

// Forget drops old secrets at once.
func (s *WebhookState) Forget() { s.Old, s.ToldAt = nil, time.Time{} }

// Waiting says whether the forge has to be told the secret.
func (s WebhookState) Waiting() bool { return len(s.Old) > 0 && s.ToldAt.IsZero() }

// Accepted are the secrets by which a webhook that comes now may be signed.
func (s WebhookState) Accepted(now time.Time) [][]byte {
	accepted := [][]byte{s.Secret}
	if s.ToldAt.IsZero() || now.Before(s.ToldAt.Add(OldSecretGrace)) {
		accepted = append(accepted, s.Old...)
	}
	return accepted
}
