package scale_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
)

// BenchmarkPools measures what 200 Pools cost that are applied at once: the time until all are Ready, requests to GARM,
// writes to the project's group, and the memory of the operator.
func BenchmarkPools(b *testing.B) {
	for name, dialect := range map[string]garmproxy.Dialect{"own": nil, "v0.1.5": garmproxy.V015()} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				f := newFleet(b, dialect)
				f.start()
				if err := f.Apply(f.ctx, f.Base()...); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				began := time.Now()
				if err := f.Apply(f.ctx, f.Pools(poolCount)...); err != nil {
					b.Fatal(err)
				}
				f.allReady(poolCount)
				b.ReportMetric(time.Since(began).Seconds(), "s/ready")
				requests, writes := float64(f.Proxy.Counts().Requests()), float64(f.writes())
				b.ReportMetric(requests, "requests")
				b.ReportMetric(requests/poolCount, "requests/pool")
				b.ReportMetric(writes, "writes")
				b.ReportMetric(writes/poolCount, "writes/pool")
				b.ReportMetric(f.memory(), "MiB")
				b.StopTimer()
				f.stop()
			}
		})
	}
}

// memoryLimit is what the manifests of the known operator allow, in MiB; those of this one allow more.
const memoryLimit = 128

// BenchmarkRunners measures what 2000 runners cost that are shown as Runners (OP-59): the time until all are, and the
// memory of the operator, which has to stay below the limit.
func BenchmarkRunners(b *testing.B) {
	const count = 2000
	for range b.N {
		b.StopTimer()
		f := newFleet(b, nil, "--operator-runner-reconciliation=true")
		f.start()
		pool := f.Pool("many")
		pool.Spec.MinIdleRunners, pool.Spec.MaxRunners = count, count
		b.StartTimer()
		began := time.Now()
		if err := f.Apply(f.ctx, append(f.Base(), pool)...); err != nil {
			b.Fatal(err)
		}
		f.listed(count)
		b.ReportMetric(time.Since(began).Seconds(), "s/shown")
		b.ReportMetric(float64(f.writes())/count, "writes/runner")
		b.ReportMetric(f.memory(), "MiB")
		b.ReportMetric(f.peakMemory(), "MiB-peak")
		if peak := f.peakMemory(); peak >= memoryLimit {
			b.Errorf("the operator took %.0f MiB with %d runners, more than %d", peak, count, memoryLimit)
		}
		b.StopTimer()
		f.stop()
	}
}

// listed waits until n runners are shown, in whatever state: a test's machine may take long to start so many processes.
func (f *fleet) listed(n int) {
	f.tb.Helper()
	f.until(func() error {
		runners := &v1beta1.RunnerList{}
		if err := f.Kube.List(f.ctx, runners, client.InNamespace(f.namespace)); err != nil {
			return err
		}
		told := 0
		for i := range runners.Items {
			if runners.Items[i].Status.ID != "" {
				told++
			}
		}
		if told != n {
			return fmt.Errorf("%d runners are shown with what they are, not %d", told, n)
		}
		return nil
	})
}

// memory is the resident memory of the operator in MiB, as Linux counts it; 0 elsewhere.
func (f *fleet) memory() float64 { return f.size("VmRSS:") }

// peakMemory is the most that it ever was.
func (f *fleet) peakMemory() float64 { return f.size("VmHWM:") }

func (f *fleet) size(field string) float64 {
	f.tb.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.operator.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if kib, found := strings.CutPrefix(line, field); found {
			n, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(kib), "kB")), 64)
			if err != nil {
				f.tb.Fatal(err)
			}
			return n / 1024
		}
	}
	return 0
}
