package replay

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
)

func start(t *testing.T, handler http.Handler, options Options) *Replayer {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	options.URL, options.ForgeURL = server.URL, "http://forge.test"
	if options.PollInterval == 0 {
		options.PollInterval = time.Millisecond
	}
	r, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func run(t *testing.T, r *Replayer, recording string) *Report {
	t.Helper()
	// A first run as the first exchange, since the server of these tests needs no set-up.
	recording = `{"method":"POST","path":"/api/v1/first-run","response_kind":"empty","status":200}` + "\n" + recording
	exchanges, err := Parse(strings.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	report, err := r.Run(t.Context(), exchanges)
	if err != nil {
		t.Fatal(err)
	}
	report.Results = report.Results[1:]
	return report
}

func differences(report *Report) []string {
	var all []string
	for _, result := range report.Results {
		for _, d := range result.Differences {
			all = append(all, d.String())
		}
	}
	return all
}

func TestRequestsAreFilledWithWhatAnswersShowed(t *testing.T) {
	var paths, bodies []string
	server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/first-run" {
			return
		}
		body := make([]byte, 200)
		n, _ := r.Body.Read(body)
		paths = append(paths, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Authorization")+r.Header.Get("X-Hub-Signature-256"))
		bodies = append(bodies, string(body[:n]))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":%q,"n":7,"token":"a.b.c"}`, someID)
	})
	report := run(t, start(t, server, Options{InstanceToken: func(runner string) (string, error) { return "token-of-" + runner, nil }}), `
{"seq":1,"method":"POST","path":"/x","request_body":{"url":"<forge-url>"},"status":200,"response_kind":"json","response_headers":{"Content-Type":"application/json"},"response_body":{"id":"<repo-id-1>","n":"<job-id-1:int>","token":"<token>"}}
{"seq":2,"method":"PUT","path":"//x/<repo-id-1>","query":"job=<job-id-1:int>","request_headers":{"Authorization":"Bearer <token>"},"request_body":{"b":"<job-id-1:int>","a":1},"status":200,"response_kind":"json","response_headers":{"Content-Type":"application/json"},"response_body":{"id":"<repo-id-1>"}}
{"seq":3,"method":"POST","path":"/hook","sign_with":"secret","request_headers":{"X-Hub-Signature-256":"<signature>"},"request_bytes":"{}","status":200,"response_kind":"json","response_headers":{"Content-Type":"application/json"},"response_body":{}}
{"seq":4,"method":"GET","path":"/<pool-id-1>","status":200,"response_kind":"empty"}
`)
	if diff := cmp.Diff([]string{"status $: not sent: <pool-id-1> was never seen in an answer"}, differences(report)); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	signature := "sha256=77325902caca812dc259733aacd046b73817372c777b8d95b402647474516e13"
	if diff := cmp.Diff([]string{"POST /x ", "PUT //x/" + someID + "?job=7 Bearer a.b.c", "POST /hook " + signature}, paths); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`{"url":"http://forge.test"}`, `{"b":7,"a":1}`, `{}`}, bodies); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
}

func TestPolledExchangesAreRepeated(t *testing.T) {
	calls := 0
	mux := http.NewServeMux()
	mux.HandleFunc("/api/v1/first-run", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/x", func(w http.ResponseWriter, _ *http.Request) {
		calls++
		fmt.Fprintf(w, `{"status":%q,"other":1}`, map[bool]string{true: "running", false: "creating"}[calls >= 3])
	})
	report := run(t, start(t, mux, Options{}), `
{"seq":1,"method":"GET","path":"/x","poll":{"timeout_s":10,"until":["status"]},"status":200,"response_kind":"json","response_headers":{"Content-Type":"text/plain"},"response_body":{"status":"running","other":2}}
{"seq":2,"method":"GET","path":"/x","poll":{"timeout_s":0.01},"status":200,"response_kind":"json","response_headers":{"Content-Type":"text/plain"},"response_body":{"status":"never"}}`)
	if diff := cmp.Diff([]string{"value $.other: want 2, got 1", `value $.status: want "never", got "running"`}, differences(report)); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if calls < 4 {
		t.Errorf("%d calls: the second exchange was not sent", calls)
	}
}

func TestRedirectsAndDroppedConnectionsAreAnswers(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/v1/first-run", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Location", "/x"); w.WriteHeader(301) })
	mux.HandleFunc("/drop", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	recording := `
{"seq":1,"method":"GET","path":"/moved","status":301,"response_kind":"empty"}
{"seq":2,"method":"GET","path":"/drop","status":0,"response_kind":"empty"}
{"seq":3,"method":"GET","path":"/moved","status":500,"response_kind":"json","response_body":{}}`
	report := run(t, start(t, mux, Options{}), recording)
	if total := report.Total(); total != (Counts{Exchanges: 3, Status: 2, Shape: 2, Values: 2}) {
		t.Errorf("total is %+v\n%v", total, differences(report))
	}
	if total := run(t, start(t, mux, Options{SkipFaults: true}), recording).Total(); total != (Counts{1, 1, 1, 1}) {
		t.Errorf("without faults the total is %+v, want one exchange that agrees", total)
	}
}

func TestWebsockets(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/v1/first-run", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/ws", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		_, frame, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		if string(frame) == "close" {
			_ = conn.Close(websocket.StatusNormalClosure, "")
			return
		}
		_ = conn.Write(r.Context(), websocket.MessageText, []byte(`{"n":2}`))
		_ = conn.Write(r.Context(), websocket.MessageText, []byte(`{"n":1,"events":[1]}`))
		<-conn.CloseRead(context.Background()).Done()
	})
	report := run(t, start(t, mux, Options{}), `
{"seq":1,"method":"WS","ws":"open","id":"a","path":"/ws","status":401}
{"seq":2,"method":"WS","ws":"open","id":"b","path":"/ws","request_headers":{"Authorization":"x"},"status":101}
{"seq":3,"method":"WS","ws":"send","id":"b","frame":"go"}
{"seq":4,"method":"WS","ws":"expect","id":"b","frames":[{"n":1,"events":[]},{"n":2}],"closed":false}
{"seq":5,"method":"WS","ws":"expect","id":"b","frames":[],"closed":false}
{"seq":6,"method":"WS","ws":"close","id":"b"}
{"seq":7,"method":"WS","ws":"open","id":"c","path":"/ws","request_headers":{"Authorization":"x"},"status":101}
{"seq":8,"method":"WS","ws":"send","id":"c","frame":"close"}
{"seq":9,"method":"WS","ws":"expect","id":"c","frames":[],"closed":true,"close_code":1000,"close_reason":""}
{"seq":10,"method":"WS","ws":"expect","id":"c","frames":[],"closed":true,"close_code":1001,"close_reason":"bye"}
{"seq":11,"method":"WS","ws":"expect","id":"c","frames":[{"n":3}],"closed":false}
{"seq":12,"method":"WS","ws":"send","id":"nobody","frame":"x"}`)
	want := []string{
		`value close: want 1001 "bye", got 1000 ""`,
		`value frames[0]: no such element: {"n":3}`,
		"shape close: want closed=false, got true",
		"status $: not sent: websocket nobody is not open",
	}
	if diff := cmp.Diff(want, differences(report)); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func TestSetUpIsDoneWhereTheRecordingHasNone(t *testing.T) {
	var calls []string
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		calls = append(calls, r.Method+" "+r.URL.Path)
		fmt.Fprintf(w, `{"token":"a.b.c","controller_id":%q,"id":3}`, someID)
	})
	r := start(t, mux, Options{})
	report, err := r.Run(t.Context(), []Exchange{{Method: "GET", Path: "/c/<credentials-id-1:int>/<controller-id>", Status: 200, ResponseKind: "json", ResponseBody: []byte(`{}`), ResponseHeaders: map[string]string{"Content-Type": "text/plain"}}})
	if err != nil {
		t.Fatal(err)
	}
	if found := differences(report); len(found) > 0 {
		t.Error(found)
	}
	want := []string{
		"POST /api/v1/first-run", "POST /api/v1/auth/login", "PUT /api/v1/controller", "POST /api/v1/github/endpoints", "POST /api/v1/github/credentials",
		"GET /c/3/" + someID,
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
