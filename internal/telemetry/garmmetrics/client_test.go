package garmmetrics_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/garm/client"
	"github.com/garm-operator/garm-operator/internal/telemetry/garmmetrics"
)

// server gives out tokens and refuses all but the latest; it has no pools.
type server struct {
	exp   atomic.Int64
	token atomic.Pointer[string]
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	current := s.token.Load()
	switch {
	case strings.HasSuffix(r.URL.Path, "/auth/login"):
		token := fmt.Sprintf("h.%s.s", base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, s.exp.Load())))
		s.token.Store(&token)
		_, _ = fmt.Fprintf(w, `{"token":%q}`, token)
	case current == nil || r.Header.Get("Authorization") != "Bearer "+*current:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":"Authentication failed","details":""}`)
	case strings.HasSuffix(strings.TrimSuffix(r.URL.Path, "/"), "/pools"):
		_, _ = io.WriteString(w, `[]`)
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"Not Found","details":""}`)
	}
}

// scrape returns the sample lines that the metrics endpoint shows.
func scrape(t *testing.T, url string) map[string]float64 {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string]float64{}
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSpace(line)
		if i := strings.LastIndexByte(line, ' '); i > 0 && !strings.HasPrefix(line, "#") {
			value, err := strconv.ParseFloat(line[i+1:], 64)
			if err != nil {
				t.Fatalf("sample %q: %v", line, err)
			}
			samples[line[:i]] = value
		}
	}
	return samples
}

func TestScrape(t *testing.T) {
	s := &server{}
	first := time.Now().Add(time.Hour).Truncate(time.Second)
	s.exp.Store(first.Unix())
	backend := httptest.NewServer(s)
	defer backend.Close()

	metrics := garmmetrics.NewClient()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics)
	endpoint := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer endpoint.Close()
	c, err := client.New(client.Config{BaseURL: backend.URL, Username: "admin", Password: client.Password("secret"), Metrics: metrics})
	if err != nil {
		t.Fatal(err)
	}

	if _, err := c.ListPools(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetPool(t.Context(), "x"); !garm.IsNotFound(err) {
		t.Fatal(err)
	}
	const prefix, label = "garm_operator_client_", `{controller="garm_operator"`
	want := map[string]float64{
		prefix + "jwt_expiration_timestamp_seconds" + label + `}`:            float64(first.Unix()),
		prefix + "api_requests_total" + label + `,method="Login"}`:           1,
		prefix + "api_requests_total" + label + `,method="client.Login"}`:    1,
		prefix + "api_requests_total" + label + `,method="pool.List"}`:       1,
		prefix + "api_requests_total" + label + `,method="pool.Get"}`:        1,
		prefix + "api_requests_errors_total" + label + `,method="pool.Get"}`: 1,
	}
	if diff := cmp.Diff(want, scrape(t, endpoint.URL)); diff != "" {
		t.Errorf("OP-51 after a login (-want +got):\n%s", diff)
	}

	second := first.Add(time.Hour)
	s.exp.Store(second.Unix())
	s.token.Store(nil)
	if _, err := c.ListPools(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := scrape(t, endpoint.URL)
	if key := prefix + "jwt_expiration_timestamp_seconds" + label + `}`; got[key] != float64(second.Unix()) {
		t.Errorf("OP-51: after another login the token ends at %f, want %d", got[key], second.Unix())
	}
}
