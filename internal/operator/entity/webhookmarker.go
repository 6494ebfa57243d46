package entity

import (
	"encoding/json"
	"time"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

const (
	// lookEvery is how often an installed webhook is looked at, to find what others have changed at the forge.
	lookEvery = 12 * time.Hour
	// lookRetry is when a look is repeated that failed.
	lookRetry = time.Hour
)

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
