// Package conformance lists where the server differs from a real GARM on purpose. Its tests replay conversations with
// real servers, and exchanges of the project's own, against ours; docs/compatibility.md shows the list to users.
package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// Difference is a group of recorded exchanges that the server answers otherwise, for one reason.
type Difference struct {
	// Recording is the release, or the client, whose recording it is about.
	Recording string
	// Exchanges are places in the sequence of the recording.
	Exchanges []int
	// Request says what was asked, Recorded what the recorded server answered, Ours what ours does.
	Request, Recorded, Ours string
	Reason                  string
}

// The recordings.
const (
	v015   = "v0.1.5"
	v021   = "v0.2.1"
	cliOld = "garm-cli-v0.1.5"
)

// Differences are all of them, in the order of docs/compatibility.md. For v0.1.5 a difference in values alone is none:
// where the releases disagree, the newer one is followed.
func Differences() []Difference {
	return []Difference{
		{
			v021,
			[]int{136, 165, 194},
			"entity created without `webhook_secret`", "500", "400 that names the key",
			"It is the caller's mistake, and 500 tells them nothing.",
		},
		{
			v015,
			[]int{137, 166, 195},
			"entity created without `webhook_secret`", "500", "400 that names the key",
			"The same.",
		},
		{
			v021,
			[]int{449, 450, 451, 452},
			"webhook about a job that no pool takes, or a runner that is not ours", "500", "200",
			"The sender can do nothing about it, and would show a failed delivery.",
		},
		{
			v021,
			[]int{455},
			"webhook for a repository that the server does not have", "connection dropped", "200, as v0.1.5",
			"The same.",
		},
		{
			v015,
			[]int{448},
			"webhook of an unknown endpoint", "404", "200, as v0.2.1",
			"The same.",
		},
		{
			v015,
			[]int{2},
			"login before the first run", "401", "409 `init_required`, as v0.2.1",
			"It says what to do; clients of v0.1.5 call first-run before they log in.",
		},
		{
			v015,
			[]int{23},
			"request while only the webhook URL is missing", "409 `urls_required`", "200, as v0.2.1",
			"Runners need the metadata and callback URLs alone; webhooks may be unreachable.",
		},
		{
			v015,
			[]int{80, 81},
			"change or deletion of the endpoint `github.com`", "400", "200 and 204, as v0.2.1",
			"It is an endpoint like any other, for example to be sent through a proxy.",
		},
		{
			v015,
			[]int{98, 99, 100, 101, 205, 206, 207},
			"credentials of the endpoint `github.com`", "200 and 204", "404",
			"They follow its deletion in exchange 81, which was refused in the recording.",
		},
		{
			v015,
			[]int{83},
			"deletion of an endpoint in use", "500", "400 that says who uses it",
			"It is the caller's mistake, and 500 tells them nothing.",
		},
		{
			v015,
			[]int{217, 218, 219, 220, 221, 222, 223, 224, 225, 226, 229, 231},
			"pool with a missing or wrong value", "500", "400 that names the key, as v0.2.1",
			"It is the caller's mistake, and 500 tells them nothing.",
		},
		{
			v015,
			[]int{328, 329, 330, 342},
			"pool below an entity that has no such pool", "500", "404, as v0.2.1",
			"A client has to know a missing pool from a broken server: only the first may be made again.",
		},
		{
			v015,
			[]int{381},
			"system-info of a runner with another agent id", "200, and the id is overwritten", "400, as v0.2.1",
			"The forge gave the id; another runner's would be removed at the end.",
		},
		{
			v015,
			[]int{385, 387},
			"callback with an unknown status", "200, and the token of the instance is dead", "400, and the token stays good; as v0.2.1",
			"Runner states are a state machine; a stray word must not end a bootstrap.",
		},
		{
			v015,
			[]int{409},
			"cert-bundle of an endpoint without a CA", `{"root_certificates": null}`, `{"root_certificates": {}}`,
			"v0.2.1 leaves the key out; an empty object is read by clients of both.",
		},
		{
			cliOld,
			[]int{64},
			"`pool add` with a provider that is not configured", "500", "400 that names the provider",
			"The client shows the text, so the user learns what is wrong.",
		},
	}
}

// Row is the line of the table in docs/compatibility.md.
func (d Difference) Row() string {
	places := make([]string, len(d.Exchanges))
	for i, seq := range d.Exchanges {
		places[i] = fmt.Sprint(seq)
	}
	return "| " + strings.Join([]string{d.Recording, strings.Join(places, ", "), d.Request, d.Recorded, d.Ours, d.Reason}, " | ") + " |"
}

// OnPurpose returns the reason why an exchange differs, if it is listed.
func OnPurpose(recording string, seq int) (reason string, listed bool) {
	for _, d := range Differences() {
		if d.Recording == recording && slices.Contains(d.Exchanges, seq) {
			return d.Reason, true
		}
	}
	return "", false
}
