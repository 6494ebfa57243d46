package remote_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/remote/remotetest"
)

func TestSubscriptionNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := remotetest.NewServer()
		session := run(t, server, remote.Options{})
		sub := session.Subscribe(remote.KindInstance)
		for i := range 20_000 {
			server.SetInstance(garm.Instance{Name: fmt.Sprintf("r%d", i)})
		}
		synctest.Wait()
		notices := drain(t, sub)
		if len(notices) > 10_000 {
			t.Errorf("%d notices were kept", len(notices))
		}
		if !notices[0].Resync() {
			t.Error("notices were dropped without a word")
		}
		if n, _ := session.View().Instances(); len(n) != 20_000 {
			t.Errorf("%d instances are known", len(n))
		}
	})
}

func TestSubscriptionCoalesces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := remotetest.NewServer()
		session := run(t, server, remote.Options{})
		instances, pools := session.Subscribe(remote.KindInstance), session.Subscribe(remote.KindPool)
		for range 100 {
			server.SetInstance(garm.Instance{Name: "r", PoolID: "p"})
		}
		synctest.Wait()
		if n := drain(t, instances); len(n) != 1 {
			t.Errorf("100 changes of one instance are %d notices", len(n))
		}
		if n := drain(t, pools); len(n) != 0 {
			t.Errorf("a subscription to pools hears %v", n)
		}
		instances.Close()
		if _, err := instances.Next(t.Context()); !errors.Is(err, remote.ErrClosed) {
			t.Errorf("a closed subscription says %v", err)
		}
	})
}

func TestSourceFeedsAQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := remotetest.NewServer()
		session := run(t, server, remote.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		src := session.Source(func(_ context.Context, n remote.Notice) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: n.NaturalKey}}}
		}, remote.KindInstance)
		if err := src.Start(ctx, queue); err != nil {
			t.Fatal(err)
		}
		server.SetInstance(garm.Instance{Name: "R", PoolID: "p"})
		synctest.Wait()
		if got, _ := queue.Get(); got.Name != "r" {
			t.Errorf("the queue has %v", got)
		}
		queue.ShutDown()
		cancel()
		pass(time.Second)
	})
}
