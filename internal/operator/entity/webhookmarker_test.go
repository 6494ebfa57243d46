package entity

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

func TestWebhookNextStep(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	install, remove := &v1beta1.WebhookSpec{Install: true}, &v1beta1.WebhookSpec{}
	want := webhookMarker{Controller: "c", Entity: "e", URL: "https://garm.test/webhooks/c", Secret: "uid/7/key"}
	gone := webhookMarker{Controller: "c", Entity: "e", Removed: true}
	done := want
	done.ID, done.Look = 7, now.Add(time.Hour)
	with := func(m webhookMarker, change func(*webhookMarker)) webhookMarker {
		change(&m)
		return m
	}
	for name, test := range map[string]struct {
		spec           *v1beta1.WebhookSpec
		recorded, want webhookMarker
		step           webhookStep
	}{
		"nothing said":                 {nil, webhookMarker{}, gone, webhookUntouched},
		"nothing said any more":        {nil, done, gone, webhookUntouched},
		"first":                        {install, webhookMarker{}, want, webhookInstall},
		"installed":                    {install, done, want, webhookSettled},
		"installed long ago":           {install, with(done, func(m *webhookMarker) { m.Look = now }), want, webhookLook},
		"to be looked at in a year":    {install, with(done, func(m *webhookMarker) { m.Look = now.AddDate(1, 0, 0) }), want, webhookLook},
		"OP-52 another secret":         {install, done, with(want, func(m *webhookMarker) { m.Secret = "uid/8/key" }), webhookInstall},
		"another URL":                  {install, done, with(want, func(m *webhookMarker) { m.URL = "https://new.test/c" }), webhookInstall},
		"another entity":               {install, done, with(want, func(m *webhookMarker) { m.Entity = "f" }), webhookInstall},
		"another controller":           {install, done, with(want, func(m *webhookMarker) { m.Controller = "d" }), webhookInstall},
		"insecure now":                 {install, done, with(want, func(m *webhookMarker) { m.InsecureSSL = true }), webhookInstall},
		"no URL yet":                   {install, webhookMarker{}, with(want, func(m *webhookMarker) { m.URL = "" }), webhookNeedsURL},
		"to be removed":                {remove, done, gone, webhookRemove},
		"to be removed at first":       {remove, webhookMarker{}, gone, webhookRemove},
		"removed":                      {remove, gone, gone, webhookSettled},
		"removed at another server":    {remove, with(gone, func(m *webhookMarker) { m.Controller = "d" }), gone, webhookRemove},
		"to be installed after it was": {install, gone, want, webhookInstall},
	} {
		if got := nextStep(test.spec, test.recorded, test.want, now); got != test.step {
			t.Errorf("%s: step %d, want %d", name, got, test.step)
		}
	}
}

// What was done is never due again while nothing changes, not after it has been stored and read either.
func TestWebhookMarkerSettles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~]{1,12}`)
		want := webhookMarker{Controller: text.Draw(t, "controller"), Entity: text.Draw(t, "entity")}
		spec := &v1beta1.WebhookSpec{Install: rapid.Bool().Draw(t, "install"), InsecureSSL: rapid.Bool().Draw(t, "insecure")}
		now := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "now"), 0)
		done := want
		if spec.Install {
			want.URL, want.Secret, want.InsecureSSL = text.Draw(t, "url"), text.Draw(t, "secret"), spec.InsecureSSL
			done = want
			done.ID, done.Look = rapid.Int64().Draw(t, "id"), now.Add(lookEvery).UTC()
		} else {
			want.Removed, done.Removed = true, true
		}
		if got := nextStep(spec, parseMarker(done.String()), want, now); got != webhookSettled {
			t.Errorf("step %d after %s", got, done)
		}
	})
}

func TestWebhookMarkerThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"", "{", "7", `"x"`, `{"id":"x"}`} {
		if got := parseMarker(text); got != (webhookMarker{}) {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}

func FuzzWebhookMarker(f *testing.F) {
	f.Add(`{"controller":"c","entity":"e","look":"2026-01-02T03:04:05Z"}`)
	f.Fuzz(func(t *testing.T, text string) {
		once := parseMarker(text)
		if again := parseMarker(once.String()); again.wish() != once.wish() || again.ID != once.ID || !again.Look.Equal(once.Look) {
			t.Errorf("%s became %s", once, again)
		}
	})
}

// Resources that were made at once are not looked at at once, and never so late that a clock is suspected.
func TestWebhookLooksAreSpread(t *testing.T) {
	hours := map[time.Duration]int{}
	for range 200 {
		d := spread(lookEvery)
		if d < lookEvery/2 || d >= 2*lookEvery {
			t.Fatalf("a look after %s", d)
		}
		hours[d.Truncate(time.Hour)]++
	}
	for hour, n := range hours {
		if n > 60 {
			t.Errorf("%d of 200 looks in the hour after %s", n, hour)
		}
	}
}

func TestWebhookConflictDelay(t *testing.T) {
	last := time.Duration(0)
	for n := range 100 {
		d := conflictDelay(n)
		if d < last || d < conflictRetry || d > refusalRetry {
			t.Errorf("delay %d is %s after %s", n, d, last)
		}
		last = d
	}
	if last != refusalRetry {
		t.Errorf("the last delay is %s", last)
	}
}
