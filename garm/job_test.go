package garm_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/garm-operator/garm-operator/garm"
)

func TestJobReadsBothSpellings(t *testing.T) {
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := garm.Job{
		ID: 7, StartedAt: started, CompletedAt: started, RepositoryName: "r", RepositoryOwner: "o",
		Labels: []string{"a"}, LockedBy: "l",
	}
	for name, text := range map[string]string{
		"v0.1.5": `{"id":7,"StartedAt":"2026-01-02T03:04:05Z","CompletedAt":"2026-01-02T03:04:05Z","RepositoryName":"r","RepositoryOwner":"o","Labels":["a"],"LockedBy":"l"}`,
		"v0.2":   `{"id":7,"started_at":"2026-01-02T03:04:05Z","completed_at":"2026-01-02T03:04:05Z","repository_name":"r","repository_owner":"o","labels":["a"],"locked_by":"l"}`,
	} {
		t.Run(name, func(t *testing.T) {
			var got garm.Job
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// What a server writes is understood by a client that knows only one of the spellings.
func TestJobIsWrittenInBothSpellings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		labels := rapid.SliceOf(rapid.StringMatching(`[a-z]+`)).Draw(t, "labels")
		data, err := json.Marshal(garm.Job{RepositoryName: name, Labels: labels})
		if err != nil {
			t.Fatal(err)
		}
		var keys map[string]any
		if err := json.Unmarshal(data, &keys); err != nil {
			t.Fatal(err)
		}
		for old, snake := range map[string]string{
			"StartedAt": "started_at", "CompletedAt": "completed_at", "RepositoryName": "repository_name",
			"RepositoryOwner": "repository_owner", "Labels": "labels", "LockedBy": "locked_by",
		} {
			if keys[old] == nil || !cmp.Equal(keys[old], keys[snake]) {
				t.Fatalf("%s is %v and %s is %v", old, keys[old], snake, keys[snake])
			}
		}
		if keys["RepositoryName"] != name || len(keys["labels"].([]any)) != len(labels) {
			t.Fatalf("%s does not say what the job says", data)
		}
	})
}
