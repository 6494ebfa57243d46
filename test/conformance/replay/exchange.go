package replay

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Exchange is one recorded request with its answer, or one step of a websocket.
type Exchange struct {
	// Seq is the place in the sequence of a recording.
	Seq int `json:"seq"`
	// Topic and Scenario say what it belongs to; a scenario makes what it needs and removes it again.
	Topic    string `json:"topic"`
	Scenario string `json:"scenario"`
	// Command is the command line of a client that sent the request.
	Command string `json:"command"`
	Note    string `json:"note"`

	Method         string            `json:"method"`
	Path           string            `json:"path"`
	Query          string            `json:"query"`
	RequestHeaders map[string]string `json:"request_headers"`
	// RequestBody is JSON; RequestBytes, the exact body, goes before it.
	RequestBody  json.RawMessage `json:"request_body"`
	RequestBytes *string         `json:"request_bytes"`
	// SignWith is the secret of the body's signature.
	SignWith string `json:"sign_with"`

	// Status is 0 where the recorded server ended the connection without an answer.
	Status          int               `json:"status"`
	ResponseHeaders map[string]string `json:"response_headers"`
	// ResponseKind is json, text, empty or metrics.
	ResponseKind string          `json:"response_kind"`
	ResponseBody json.RawMessage `json:"response_body"`
	// ExtraSpecsBytes is the exact text of extra_specs in the answer.
	ExtraSpecsBytes *string `json:"extra_specs_bytes"`
	// Volatile are keys, at any depth, under which nothing is compared.
	Volatile []string `json:"volatile"`
	Poll     *Poll    `json:"poll"`

	// WS is a step of the websocket ID: open, send, expect or close.
	WS          string            `json:"ws"`
	ID          string            `json:"id"`
	Frame       string            `json:"frame"`
	Frames      []json.RawMessage `json:"frames"`
	Closed      bool              `json:"closed"`
	CloseCode   int               `json:"close_code"`
	CloseReason string            `json:"close_reason"`

	// Websocket marks the event stream of a client: there to be read, not to be replayed.
	Websocket bool `json:"websocket"`
}

// Poll says that the request was repeated until this answer came.
type Poll struct {
	// Timeout is in seconds.
	Timeout float64 `json:"timeout_s"`
	// Until names the keys that the recording waited for. None: all of the answer.
	Until []string `json:"until"`
}

// Fault says whether the recorded server failed where an answer was due.
func (e Exchange) Fault() bool { return e.WS == "" && (e.Status == 0 || e.Status == 500) }

// String is how a report names the exchange.
func (e Exchange) String() string {
	what := e.Method + " " + e.Path
	if e.WS != "" {
		what = "websocket " + e.WS + " " + e.Path
	}
	text := fmt.Sprintf("#%d %s/%s %s", e.Seq, e.group(), e.Scenario, what)
	if e.Note != "" {
		text += " (" + e.Note + ")"
	}
	return text
}

// group is the heading under which a report counts the exchange: the topic, or the first word of a client's command.
func (e Exchange) group() string {
	if e.Topic != "" {
		return e.Topic
	}
	word, _, _ := bytes.Cut([]byte(e.Command), []byte(" "))
	return cmp.Or(string(word), "client")
}

func (e Exchange) check() error {
	switch {
	case e.Websocket:
		return nil
	case e.WS == "" && (e.Method == "" || e.Path == "" || e.Path[0] != '/'):
		return fmt.Errorf("exchange %d needs a method and a path that begins with /", e.Seq)
	case e.WS != "" && e.ID == "":
		return fmt.Errorf("exchange %d: a websocket step needs an id", e.Seq)
	}
	switch e.WS {
	case "", "open", "send", "expect", "close":
	default:
		return fmt.Errorf("exchange %d: ws is %q, none of open, send, expect, close", e.Seq, e.WS)
	}
	if e.WS != "" {
		return nil
	}
	switch e.ResponseKind {
	case "json", "text", "empty", "metrics":
		return nil
	}
	return fmt.Errorf("exchange %d: response_kind is %q, none of json, text, empty, metrics", e.Seq, e.ResponseKind)
}

// Parse reads a recording: a JSON object a line, in any order of seq. Blank lines are passed over.
func Parse(r io.Reader) ([]Exchange, error) {
	var all []Exchange
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, end := lines.ReadBytes('\n')
		if text := bytes.TrimSpace(line); len(text) > 0 {
			var e Exchange
			if err := json.Unmarshal(text, &e); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			if err := e.check(); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			all = append(all, e)
		}
		if end == io.EOF {
			return all, nil
		}
		if end != nil {
			return nil, fmt.Errorf("reading line %d: %w", number, end)
		}
	}
}

// Load reads files, and all .jsonl files of folders, as one conversation in the order of seq.
func Load(paths ...string) ([]Exchange, error) {
	var all []Exchange
	for _, path := range paths {
		files := []string{path}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if files, err = filepath.Glob(filepath.Join(path, "*.jsonl")); err != nil {
				return nil, fmt.Errorf("listing %s: %w", path, err)
			}
		}
		for _, name := range files {
			more, err := loadFile(name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			all = append(all, more...)
		}
	}
	slices.SortStableFunc(all, func(a, b Exchange) int { return cmp.Compare(a.Seq, b.Seq) })
	return all, nil
}

func loadFile(name string) ([]Exchange, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Parse(f)
}
