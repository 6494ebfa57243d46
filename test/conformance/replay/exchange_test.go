package replay

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLoadMergesFilesInOrder(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b.jsonl":   `{"seq":1,"method":"GET","path":"/one","response_kind":"empty"}` + "\n\n" + `{"seq":3,"method":"GET","path":"/three","response_kind":"empty"}`,
		"a.jsonl":   `{"seq":2,"method":"WS","ws":"close","id":"ws-1"}` + "\n",
		"notes.txt": "not a recording",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var order []int
	for _, e := range all {
		order = append(order, e.Seq)
	}
	if diff := cmp.Diff([]int{1, 2, 3}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestParseRefusesWhatCannotBeReplayed(t *testing.T) {
	for text, want := range map[string]string{
		"{":                                    "line 1",
		"\n{}":                                 "line 2: exchange 0 needs a method",
		`{"seq":4,"method":"GET","path":"x"}`:  "exchange 4 needs a method and a path",
		`{"method":"GET","path":"/"}`:          `response_kind is ""`,
		`{"method":"WS","ws":"wave","id":"1"}`: `ws is "wave"`,
		`{"method":"WS","ws":"open"}`:          "needs an id",
	} {
		if _, err := Parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %q in it", text, err, want)
		}
	}
}

func TestFillJSONKeepsOrderAndSpelling(t *testing.T) {
	values := Bindings{"credentials-id-1": "7", "admin-password": `q"uote`, "garm-url": "http://h"}
	find := func(name string) (string, error) {
		if value, ok := values[name]; ok {
			return value, nil
		}
		return "", &UnboundError{Name: name}
	}
	got, err := fillJSON(json.RawMessage(`{"z":1.50,"id":"<credentials-id-1:int>","a":"x <credentials-id-1:int> <admin-password>","u":"<garm-url>/y"}`), find)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"z":1.50,"id":7,"a":"x 7 q\"uote","u":"http://h/y"}`, got); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	var unbound *UnboundError
	if _, err := fillText("/x/<repo-id-1>", find); !errors.As(err, &unbound) || unbound.Name != "repo-id-1" {
		t.Errorf("error is %v, want one that names repo-id-1", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"seq":1,"method":"GET","path":"/api/v1/x","query":"","request_headers":{},"status":200,"response_kind":"json","response_body":{"a":"<time>"}}`)
	f.Add(`{"seq":2,"method":"WS","ws":"expect","id":"ws-1","frames":[{}],"closed":true,"close_code":1000,"close_reason":""}`)
	f.Add("\n{\"poll\":{\"timeout_s\":1e400}}")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, e := range all {
			if err := e.check(); err != nil && !e.Websocket {
				t.Errorf("took an exchange that cannot be replayed: %v", err)
			}
			judge(e, answer{200, "application/json", text}, Bindings{}, Options{})
		}
	})
}

func FuzzMatchText(f *testing.F) {
	f.Add("/x/<repo-id-1>/<repo-id-1>", "/x/"+someID+"/"+someID)
	f.Add("<garm-url>/<runner-name-1>.", "http://x/y.")
	f.Fuzz(func(t *testing.T, want, got string) {
		bound := Bindings{}
		if !matchText(want, got, bound) {
			if len(bound) > 0 {
				t.Errorf("%q does not fit %q, but was bound: %v", got, want, bound)
			}
			return
		}
		if !matchText(want, got, bound) {
			t.Errorf("%q fits %q once, but not with %v", got, want, bound)
		}
	})
}
