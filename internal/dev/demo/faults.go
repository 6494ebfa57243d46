package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim/runnerapi"
)

// findFaults looks for what went wrong although every step came to its end, since somebody tried again or could do
// without: calls that GitHub failed, and webhooks that GARM did not take. A fault that nobody met proves nothing and is
// an error, too.
func (w *world) findFaults(context.Context) (string, error) {
	var found []error
	calls := w.github.RecentCalls()
	for _, c := range calls {
		// A runner ends its session by closing the connection.
		if c.Fault || (failed(c.Status) && c.Path != runnerapi.SessionPath) {
			found = append(found, fmt.Errorf("GitHub answered %s %s with %d", c.Method, c.Path, c.Status))
		}
	}
	for _, f := range w.github.UnmetFaults() {
		found = append(found, fmt.Errorf("no call met the fault %q", f.Match))
	}
	deliveries := w.github.Deliveries()
	for _, d := range deliveries {
		if d.Done && failed(d.Status) {
			found = append(found, fmt.Errorf("the webhook %s %s was answered with %d %s", d.Event, d.Action, d.Status, d.Error))
		}
	}
	return fmt.Sprintf("%d calls to GitHub, %d webhooks", len(calls), len(deliveries)), errors.Join(found...)
}

// failed says whether a status, 0 for none, is none that a call in order gets.
func failed(status int) bool { return status < http.StatusOK || status >= http.StatusBadRequest }
