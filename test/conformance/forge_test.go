package conformance_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
)

// startForge starts a simulated GitHub that hands out the secrets of the recordings instead of random ones.
func startForge(t *testing.T) string {
	t.Helper()
	var sim *githubsim.Server
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		sim.Handler().ServeHTTP(answer, r)
		body := answer.Body.Bytes()
		switch {
		case answer.Code >= http.StatusMultipleChoices:
		case strings.HasSuffix(r.URL.Path, "/generate-jitconfig"):
			body = plainJITConfig(t, body)
		case strings.HasSuffix(r.URL.Path, "/actions/runners/downloads"):
			body = zeroChecksums(t, body)
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(answer.Code)
		_, _ = w.Write(body)
	}))
	sim = githubsim.New(githubsim.Options{BaseURL: server.URL, RunnerGroups: []string{"special"}, RateLimit: 1 << 30})
	t.Cleanup(func() {
		server.Close()
		sim.Close()
	})
	return server.URL
}

func plainJITConfig(t *testing.T, body []byte) []byte {
	var given map[string]any
	var config string
	files := map[string][]byte{}
	if err := json.Unmarshal(body, &given); err != nil {
		t.Errorf("reading a JIT configuration: %v", err)
		return body
	}
	config, _ = given["encoded_jit_config"].(string)
	if err := json.NewDecoder(base64.NewDecoder(base64.StdEncoding, strings.NewReader(config))).Decode(&files); err != nil {
		t.Errorf("reading the files of a JIT configuration: %v", err)
		return body
	}
	files[".credentials"] = []byte(`{"scheme":"OAuth"}`)
	files[".credentials_rsaparams"] = []byte(`{"d":"none"}`)
	given["encoded_jit_config"] = base64.StdEncoding.EncodeToString(asJSON(t, files))
	return asJSON(t, given)
}

func zeroChecksums(t *testing.T, body []byte) []byte {
	var downloads []map[string]any
	if err := json.Unmarshal(body, &downloads); err != nil {
		t.Errorf("reading the list of downloads: %v", err)
		return body
	}
	for _, d := range downloads {
		d["sha256_checksum"] = strings.Repeat("0", 64)
	}
	return asJSON(t, downloads)
}

func asJSON(t *testing.T, value any) []byte {
	var out bytes.Buffer
	if err := json.NewEncoder(&out).Encode(value); err != nil {
		t.Errorf("writing JSON: %v", err)
	}
	return out.Bytes()
}
