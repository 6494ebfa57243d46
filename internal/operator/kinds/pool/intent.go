package pool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

const (
	// createDeadline bounds a create, waiting for its turn included. It is shorter than a leader's lease, so that a new
	// leader that waits it out meets no create of the old one.
	createDeadline = 10 * time.Second
	// settleMargin allows for servers that finish what nobody waits for any more.
	settleMargin = 2 * time.Second
	// settleGrid makes intents of about the same time share one list.
	settleGrid = 4 * time.Second
)

// intent is stored on a Pool before its GARM pool is created.
type intent struct {
	// Time tells intents apart. Clocks differ, so that nothing else is concluded from it.
	Time         time.Time `json:"time"`
	ControllerID string    `json:"controller"`
	Scope        string    `json:"scope"`
	// Replaces is the id that the status had: when it has another, the intent is resolved.
	Replaces string `json:"replaces,omitempty"`
	// Spec and Extra are fingerprints of what was about to be created.
	Spec  string `json:"spec"`
	Extra string `json:"extra"`
	// Had holds the short ids of the pools that the scope had, separated by commas.
	Had string `json:"had,omitempty"`
}

func (i intent) encode() (string, error) {
	text, err := json.Marshal(i)
	if err != nil {
		return "", fmt.Errorf("encode intent: %w", err)
	}
	return string(text), nil
}

// intentOf returns the intent of a Pool that is still open at a controller, or nil. One that cannot be read does not count.
func intentOf(p *v1beta1.Pool, controllerID string) *intent {
	text := p.Annotations[v1beta1.AnnotationPoolIntent]
	if text == "" {
		return nil
	}
	var i intent
	if json.Unmarshal([]byte(text), &i) != nil || i.ControllerID != controllerID || i.Replaces != p.Status.ID {
		return nil
	}
	return &i
}

// settles is when the outcome of a create can be known by a process that has first seen its intent at a time. Only its own
// clock counts: the intent was stored before that, so that the create is over a deadline later, whatever time the intent gives
// and however wrong the clock was that gave it. The result has the reading of the monotonic clock that first has.
func settles(first time.Time) time.Time {
	wall := first.Round(0)
	return first.Add(wall.Add(createDeadline + settleMargin).Truncate(settleGrid).Add(settleGrid).Sub(wall))
}

// had says whether a pool was there before the create.
func (i intent) had(id string) bool { return slices.Contains(strings.Split(i.Had, ","), short(id)) }

// short is enough of an id to tell the pools of one scope apart.
func short(id string) string {
	id = strings.ReplaceAll(id, "-", "")
	return id[:min(len(id), 12)]
}

func shortIDs(ids []string) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = short(id)
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// claimant is a Pool with an open intent.
type claimant struct {
	uid    string
	intent intent
}

// assign gives each orphan, a pool that nothing records, to one of the Pools that may have created it. As many orphans as
// possible find a Pool: the one that did create it always may have it, so none is left over as long as all of them look
// with this function, whoever comes first.
func assign(claimants []claimant, orphans []string) map[string]string {
	claimants = slices.Clone(claimants)
	slices.SortFunc(claimants, func(a, b claimant) int { return strings.Compare(a.uid, b.uid) })
	orphans = slices.Clone(orphans)
	slices.Sort(orphans)
	owner := make([]int, len(claimants))
	for i := range owner {
		owner[i] = -1
	}
	var place func(orphan int, tried []bool) bool
	place = func(orphan int, tried []bool) bool {
		for c := range claimants {
			if tried[c] || claimants[c].intent.had(orphans[orphan]) {
				continue
			}
			tried[c] = true
			if owner[c] < 0 || place(owner[c], tried) {
				owner[c] = orphan
				return true
			}
		}
		return false
	}
	for o := range orphans {
		place(o, make([]bool, len(claimants)))
	}
	result := map[string]string{}
	for c, o := range owner {
		if o >= 0 {
			result[claimants[c].uid] = orphans[o]
		}
	}
	return result
}
