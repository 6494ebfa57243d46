package lifecycle_test

import (
	"testing"

	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
)

// OP-42: of two managers one works. The other does not talk to GARM at all, is healthy all the same, and stops when it is told to;
// so does the first.
func TestOP42Standby(t *testing.T) {
	t.Parallel()
	e := setup(t)
	second, err := garmproxy.Start(e.ServerURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.Close)

	leader := e.config(e.Proxy.URL())
	leader.Operator.LeaderElection, leader.Operator.HealthProbeBindAddress = true, freeAddress(t)
	leading := e.run(leader)
	pools := e.Pools(3)
	if err := e.Apply(e.ctx, append(e.Base(), pools[:1]...)...); err != nil {
		t.Fatal(err)
	}
	e.ready(1)

	standby := leader
	standby.GARM.Server, standby.Operator.HealthProbeBindAddress = second.URL(), freeAddress(t)
	waiting := e.run(standby)
	for _, address := range []string{leader.Operator.HealthProbeBindAddress, standby.Operator.HealthProbeBindAddress} {
		e.until(func() error { return healthy(e.ctx, address) })
	}
	if err := e.Apply(e.ctx, pools[1]); err != nil {
		t.Fatal(err)
	}
	e.ready(2)
	if err := waiting.stop(); err != nil {
		t.Errorf("the standby stopped with %v", err)
	}
	if counts := second.Counts(); len(counts) > 0 {
		t.Errorf("the standby talked to GARM:\n%s", counts)
	}
	if err := e.Apply(e.ctx, pools[2]); err != nil {
		t.Fatal(err)
	}
	e.ready(3)
	if err := leading.stop(); err != nil {
		t.Errorf("the leader stopped with %v", err)
	}
}
