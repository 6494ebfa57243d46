package conformance_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// recordings is the folder of the recorded conversations with real GARM servers, beside the repository.
const recordings = "../../../shared/conformance"

// exchange is one recorded request and its answer, or one step of a websocket.
type exchange struct {
	Seq          int             `json:"seq"`
	Method       string          `json:"method"`
	Path         string          `json:"path"`
	Query        string          `json:"query"`
	RequestBody  json.RawMessage `json:"request_body"`
	Status       int             `json:"status"`
	ResponseKind string          `json:"response_kind"`
	ResponseBody json.RawMessage `json:"response_body"`
	WS           string          `json:"ws"`
	Frames       []json.RawMessage
}

// text is the body as it was sent.
func (e exchange) text() []byte {
	if e.ResponseKind == "empty" {
		return nil
	}
	var s string
	if e.ResponseKind == "text" && json.Unmarshal(e.ResponseBody, &s) == nil {
		return []byte(s)
	}
	return e.ResponseBody
}

func (e exchange) route() string {
	return strings.TrimSuffix(strings.TrimPrefix(e.Path, "/api/v1"), "/")
}

var (
	numbers = regexp.MustCompile(`"<[^<>"]*:int>"`)
	digits  = regexp.MustCompile(`<[^<>"]*:int>`)
)

// concrete puts values of the right form where a recording has placeholders; names of ids and addresses are such already.
func concrete(line []byte) []byte {
	line = numbers.ReplaceAll(line, []byte("42"))
	line = digits.ReplaceAll(line, []byte("42"))
	line = bytes.ReplaceAll(line, []byte("<time>"), []byte("2026-01-02T03:04:05.123456789Z"))
	return bytes.ReplaceAll(line, []byte("<base64>"), []byte("aGVsbG8="))
}

// read returns the exchanges of a release.
func read(t *testing.T, release string) []exchange {
	t.Helper()
	if _, err := os.Stat(recordings); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no recordings in %s", recordings)
	}
	files, err := filepath.Glob(filepath.Join(recordings, release, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings of %s: %v", release, err)
	}
	var all []exchange
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, len(data)+1)
		for lines.Scan() {
			var e exchange
			if err := json.Unmarshal(concrete(lines.Bytes()), &e); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all = append(all, e)
		}
	}
	return all
}
