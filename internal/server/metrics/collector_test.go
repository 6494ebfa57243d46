package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/garm-operator/garm-operator/internal/server/metrics"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

type source struct{ err error }

func (s source) Controller(context.Context) (model.Controller, error) {
	return model.Controller{ID: "c", WebhookURL: "http://user:hunter2@w/"}, s.err
}

func (source) Entities(context.Context) ([]model.Entity, error) {
	return []model.Entity{{ID: "r", Kind: model.KindRepository, Owner: "acme", Name: "widgets"}, {ID: "e", Kind: model.KindEnterprise, Name: "acme"}}, nil
}

func (source) Pools(context.Context) ([]model.Pool, error) {
	return []model.Pool{{ID: "p", EntityID: "r", EntityKind: model.KindRepository, EntityName: "acme/widgets", MaxRunners: 5, Enabled: true}}, nil
}

func (source) Instances(context.Context) ([]model.Instance, error) {
	return []model.Instance{{Name: "garm-one", PoolID: "p", EntityKind: model.KindRepository, Status: model.InstanceRunning, RunnerStatus: model.RunnerIdle}}, nil
}

func read(t *testing.T, s source) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	metrics.Handler(metrics.Options{
		Source: s, Health: func(id model.EntityID) model.EntityHealth { return model.EntityHealth{Running: id == "r"} },
		Providers: []metrics.Provider{{Name: "sim"}}, Log: slog.New(slog.DiscardHandler),
	}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	return w.Code, w.Body.String()
}

func TestGauges(t *testing.T) {
	status, text := read(t, source{})
	if status != 200 {
		t.Fatalf("the answer is %d %s", status, text)
	}
	for _, want := range []string{
		`garm_repository_info{id="r",name="acme/widgets"} 1`, `garm_enterprise_info{id="e",name="acme"} 1`,
		`garm_repository_pool_manager_status{id="r",name="acme/widgets",running="true"} 1`,
		`garm_enterprise_pool_manager_status{id="e",name="acme",running="false"} 0`,
		`garm_pool_max_runners{id="p"} 5`, `garm_pool_status{enabled="true",id="p"} 1`,
		`garm_health{callback_url="",controller_id="c",controller_webhook_url="http://w/c",metadata_url="",webhook_url="http://w/"} 1`,
		`name="garm-one",pool_id="p",pool_owner="acme/widgets",pool_type="repository",provider="",runner_status="idle",scaleset_id="",status="running"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s", want)
		}
	}
	if strings.Count(text, "garm_enterprise_info{") != 1 {
		t.Error("repositories are counted as enterprises")
	}
}

func TestDatabaseDown(t *testing.T) {
	if status, _ := read(t, source{err: errors.New("closed")}); status < 500 {
		t.Errorf("metrics that cannot be read answer %d", status)
	}
}

// turnover is a source whose runners are others at each reading.
type turnover struct {
	source
	round *int
}

func (s turnover) Instances(context.Context) ([]model.Instance, error) {
	var list []model.Instance
	for i := range 10 {
		list = append(list, model.Instance{Name: fmt.Sprintf("garm-%d-%d", *s.round, i), PoolID: "p", EntityKind: model.KindRepository, Status: model.InstanceRunning})
	}
	return list, nil
}

// SV-49, SV-50: runners that are gone leave no series behind, however many there were.
func TestSV49SV50SeriesOfGoneRunners(t *testing.T) {
	round := 0
	counters := metrics.NewCounters()
	handler := metrics.Handler(metrics.Options{
		Source: turnover{round: &round}, Health: func(model.EntityID) model.EntityHealth { return model.EntityHealth{} }, Counters: counters, Log: slog.New(slog.DiscardHandler),
	})
	series := func() int {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
		if round > 0 && strings.Contains(w.Body.String(), fmt.Sprintf("garm-%d-", round-1)) {
			t.Errorf("a runner of round %d is still shown", round-1)
		}
		n := 0
		for _, line := range strings.Split(w.Body.String(), "\n") {
			if strings.HasPrefix(line, "garm_") {
				n++
			}
		}
		return n
	}
	counters.Provider("CreateInstance", "sim", nil)
	first := series()
	for round = 1; round <= 100; round++ {
		for range 10 {
			counters.Provider("CreateInstance", "sim", nil)
		}
		if n := series(); n != first {
			t.Fatalf("%d series after %d runners, %d at first", n, round*10, first)
		}
	}
}
