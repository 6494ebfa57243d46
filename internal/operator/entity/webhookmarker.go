package entity

import (
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

const (
	// lookEvery is about how often an installed webhook is looked at, to find what others have changed at the forge.
	lookEvery = 12 * time.Hour
	// lookRetry is about when a look is repeated that failed.
	lookRetry = time.Hour
	// refusalRetry is when a webhook is tried again that was refused, should nothing change that is seen here: a permission
	// at the forge, for example.
	refusalRetry = 5 * time.Minute
	// conflictRetry is the first such time after the server has removed its webhook and may not install another.
	conflictRetry = 2 * time.Second
	// removalRetry is when a removal is tried again that did not get through.
	removalRetry = time.Minute
)

// spread moves a delay by up to half of it either way, so that many resources do not call at once. 0 stays 0.
func spread(d time.Duration) time.Duration {
	return d/2 + rand.N(max(d, 1)) //nolint:gosec // not a secret
}

// conflictDelay is how long to wait before a server is asked again that says, for the nth time since it has removed its
// webhook, that one is in the way: GitHub may list what is gone for a while.
func conflictDelay(n int) time.Duration {
	return min(conflictRetry<<min(max(n-1, 0), 10), refusalRetry)
}

// webhookMarker is what is recorded of the webhook once it is as it should be: everything that makes it out of date when
// it changes. Ids and URLs count at one controller only; Secret names a version of the Secret and tells nothing of it.
type webhookMarker struct {
	Controller  string `json:"controller,omitempty"`
	Entity      string `json:"entity,omitempty"`
	Removed     bool   `json:"removed,omitempty"`
	URL         string `json:"url,omitempty"`
	InsecureSSL bool   `json:"insecureSSL,omitempty"`
	Secret      string `json:"secret,omitempty"`

	// ID is the forge's, Look when to look at it again.
	ID   int64     `json:"id,omitempty"`
	Look time.Time `json:"look,omitzero"`
}

// parseMarker reads a marker; what cannot be read is taken for none.
func parseMarker(text string) webhookMarker {
	var m webhookMarker
	if json.Unmarshal([]byte(text), &m) != nil {
		return webhookMarker{}
	}
	return m
}

func (m webhookMarker) String() string {
	if m == (webhookMarker{}) {
		return ""
	}
	text, err := json.Marshal(m)
	if err != nil {
		return ""
	}
	return string(text)
}

// wish is the marker without what only the forge and the clock know.
func (m webhookMarker) wish() webhookMarker {
	m.ID, m.Look = 0, time.Time{}
	return m
}

// webhookStep is what a pass does about the webhook.
type webhookStep int

const (
	// webhookUntouched: the resource does not say anything of it.
	webhookUntouched webhookStep = iota
	// webhookSettled: it is as it should be, as far as is known.
	webhookSettled
	// webhookNeedsURL: the server does not know yet where the forge could reach it.
	webhookNeedsURL
	webhookInstall
	webhookRemove
	// webhookLook: somebody may have changed it at the forge meanwhile.
	webhookLook
)

// nextStep decides. The URL of want is empty while the server has none.
func nextStep(spec *v1beta1.WebhookSpec, recorded, want webhookMarker, now time.Time) webhookStep {
	switch {
	case spec == nil:
		return webhookUntouched
	case !spec.Install && recorded.wish() == want:
		return webhookSettled
	case !spec.Install:
		return webhookRemove
	case want.URL == "":
		return webhookNeedsURL
	case recorded.wish() != want:
		return webhookInstall
	case !now.Before(recorded.Look), recorded.Look.Sub(now) > 2*lookEvery: // a clock that was ahead wrote it
		return webhookLook
	}
	return webhookSettled
}
