package remote_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/remote/remotetest"
)

// run starts a session in the bubble of a synctest and waits for what can happen without time passing.
func run(t *testing.T, server *remotetest.Server, opts remote.Options) *remote.Session {
	t.Helper()
	opts.Server = "main"
	session := remote.New(server, opts)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- session.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Start returned %v", err)
		}
	})
	synctest.Wait()
	return session
}

// pass lets time pass and everything that it wakes settle.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// populate makes an organization with pools and instances.
func populate(t *testing.T, server *remotetest.Server, pools, instances int) (orgID string) {
	t.Helper()
	ctx := context.Background()
	if _, err := server.CreateEndpoint(ctx, garm.CreateEndpointParams{Name: "github.com"}); err != nil {
		t.Fatal(err)
	}
	if _, err := server.CreateCredentials(ctx, garm.CreateCredentialsParams{Name: "pat", Endpoint: "github.com"}); err != nil {
		t.Fatal(err)
	}
	org, err := server.CreateOrganization(ctx, garm.CreateEntityParams{Name: "Acme", CredentialsName: "pat"})
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{"none"}
	for range pools {
		pool, err := server.CreateOrganizationPool(ctx, org.ID, garm.CreatePoolParams{Image: "i", Flavor: "f", Tags: []string{"b", "a"}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, pool.ID)
	}
	for i := range instances {
		server.SetInstance(garm.Instance{Name: fmt.Sprintf("runner-%03d", i), PoolID: ids[i%len(ids)], Status: garm.InstanceRunning})
	}
	return org.ID
}

// drain takes the notices that are there.
func drain(t *testing.T, sub *remote.Subscription) []remote.Notice {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	notices, err := sub.Next(ctx)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	return notices
}
