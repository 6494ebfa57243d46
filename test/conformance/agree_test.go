package conformance_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/test/conformance"
	"github.com/garm-operator/garm-operator/test/conformance/replay"
)

// topics are those that the server has by now.
var topics = []string{
	"setup", "auth", "controller", "endpoints", "credentials", "repositories", "organizations", "enterprises", "pools", "instances",
	"callbacks", "metadata", "events", "routing", "webhooks", "jobs", "metrics",
}

// TestServerAgreesWithV021 replays the conversations of the newest release: everything has to agree but what differs on
// purpose.
func TestServerAgreesWithV021(t *testing.T) {
	t.Parallel()
	exchanges := conversationOf(t, "v0.2.1")
	for _, result := range conversation(t, startGarm(t), exchanges).Results {
		judge(t, "v0.2.1", result, replay.Value)
	}
}

// judge wants an exchange to agree up to a kind, or to be listed as different on purpose; never both.
func judge(t *testing.T, recording string, result replay.Result, kind replay.Kind) {
	t.Helper()
	reason, onPurpose := conformance.OnPurpose(recording, result.Exchange.Seq)
	switch {
	case !onPurpose:
		complain(t, result, kind)
	case result.Agrees(kind):
		t.Errorf("%s agrees: it need not be listed as different on purpose (%s)", result.Exchange, reason)
	}
}

// TestServerAgreesWithV015 replays the same conversations of the release whose generated client the known operator
// uses. Where the two releases differ, the newer one goes before; the older one's shape remains.
func TestServerAgreesWithV015(t *testing.T) {
	t.Parallel()
	const atLeast = 0.95
	exchanges := conversationOf(t, "v0.1.5")
	report := conversation(t, startGarm(t), exchanges)
	sound := &replay.Report{Results: slices.DeleteFunc(slices.Clone(report.Results), func(r replay.Result) bool { return r.Exchange.Fault() })}
	total := sound.Total()
	for kind, agree := range map[replay.Kind]int{replay.Status: total.Status, replay.Shape: total.Shape} {
		if share := float64(agree) / float64(total.Exchanges); share < atLeast {
			t.Errorf("%s agrees in %.1f %% of the exchanges, want %.0f %%", kind, 100*share, 100*atLeast)
		}
	}
	for _, result := range report.Results {
		judge(t, "v0.1.5", result, replay.Shape)
	}
}

// TestServerServesTheClient replays every request of garm-cli v0.1.5.
func TestServerServesTheClient(t *testing.T) {
	t.Parallel()
	exchanges := load(t, filepath.Join(recordings, "clients", "garm-cli-v0.1.5.jsonl"))
	for _, result := range conversation(t, startGarm(t), exchanges).Results {
		judge(t, "garm-cli-v0.1.5", result, replay.Shape)
	}
}

// TestServerKeepsTheRules replays the exchanges of the project's own.
func TestServerKeepsTheRules(t *testing.T) {
	t.Parallel()
	exchanges, err := replay.Load("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range conversation(t, startGarm(t), exchanges).Results {
		complain(t, result, replay.Value)
	}
}

func conversation(t *testing.T, options replay.Options, exchanges []replay.Exchange) *replay.Report {
	t.Helper()
	r, err := replay.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	report, err := r.Run(ctx, exchanges)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("agreement:\n%s", report)
	return report
}

// complain reports the differences of an exchange that does not agree up to a kind.
func complain(t *testing.T, result replay.Result, kind replay.Kind) {
	t.Helper()
	if result.Agrees(kind) {
		return
	}
	var all strings.Builder
	for _, d := range result.Differences {
		all.WriteString("\n    " + d.String())
	}
	t.Errorf("%s%s", result.Exchange, all.String())
}

// conversationOf loads the topics that the server has of a release.
func conversationOf(t *testing.T, release string) []replay.Exchange {
	t.Helper()
	return slices.DeleteFunc(load(t, filepath.Join(recordings, release)), func(e replay.Exchange) bool { return !slices.Contains(topics, e.Topic) })
}

func load(t *testing.T, path string) []replay.Exchange {
	t.Helper()
	if _, err := os.Stat(recordings); err != nil {
		t.Skipf("the recordings are not in %s; the exchanges in testdata are tested without them", recordings)
	}
	exchanges, err := replay.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return exchanges
}
