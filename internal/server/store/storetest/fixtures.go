package storetest

import (
	"fmt"
	"testing"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/service"
)

// must returns a value that came without an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// wantKind fails the test where an error is not of a kind.
func wantKind(t *testing.T, err error, kind model.ErrorKind) {
	t.Helper()
	if err == nil || model.KindOf(err) != kind {
		t.Errorf("want an error of kind %d, got %v", kind, err)
	}
}

func (f *fixture) credentials(t *testing.T, name string) model.Credentials {
	t.Helper()
	return must[model.Credentials](t)(f.CreateCredentials(t.Context(), model.Credentials{
		Name: name, Endpoint: model.Endpoint{Name: "github.com"}, AuthType: model.AuthPAT,
	}, model.ForgeSecret{Token: "ghp_verysecrettoken"}))
}

func (f *fixture) entity(t *testing.T, name string) model.Entity {
	t.Helper()
	return must[model.Entity](t)(f.CreateEntity(t.Context(), model.Entity{
		Kind: model.KindRepository, Owner: "acme", Name: name, Credentials: f.credentials(t, "of-"+name),
	}, []byte("hook-very-secret")))
}

func (f *fixture) pool(t *testing.T, entity model.Entity, limit uint) model.Pool {
	t.Helper()
	return must[model.Pool](t)(f.CreatePool(t.Context(), model.Pool{
		EntityID: entity.ID, ProviderName: "sim", RunnerPrefix: "garm", Image: "ubuntu", Flavor: "small", OSType: model.Linux, OSArch: model.AMD64,
		Tags: service.NewTags([]string{"Linux", "x64"}), MaxRunners: limit, Enabled: true, BootstrapTimeout: model.DefaultBootstrapTimeout,
	}))
}

func (f *fixture) instance(t *testing.T, pool model.Pool, name string) model.Instance {
	t.Helper()
	rows := must[[]model.Instance](t)(f.ReserveInstances(t.Context(), pool.ID, func(model.Pool, []model.Instance) []model.Instance {
		return []model.Instance{newInstance(name)}
	}))
	return rows[0]
}

func newInstance(name string) model.Instance {
	return model.Instance{Name: name, Status: model.InstancePendingCreate, RunnerStatus: model.RunnerPending, OSType: model.Linux, OSArch: model.AMD64, CreateAttempt: 1}
}

func numbered(i int) string { return fmt.Sprintf("garm-%03d", i) }
