package scale_test

import (
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
)

// Only a 404 means gone: a server that fails for a minute, in whatever way, loses nothing and gets nothing twice.
func TestOutage(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(*fleet) (mend func()){
		"answers 500":     func(f *fleet) func() { return f.Proxy.Inject(garmproxy.Fault{Status: 500}) },
		"gives no answer": func(f *fleet) func() { return f.Proxy.Inject(garmproxy.Fault{Hang: true}) },
		"loses answers":   func(f *fleet) func() { return f.Proxy.Inject(garmproxy.Fault{Drop: true, Late: true}) },
		"refuses": func(f *fleet) func() {
			refuse := func(on bool) {
				if err := f.Proxy.Refuse(on); err != nil {
					f.tb.Error(err)
				}
			}
			refuse(true)
			return func() { refuse(false) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, nil)
			f.start()
			pools := f.Pools(20)
			if err := f.Apply(f.ctx, append(f.Base(), pools[:10]...)...); err != nil {
				t.Fatal(err)
			}
			before := f.allReady(10)
			mend := fail(f)
			f.Proxy.CloseStreams()
			if err := f.Apply(f.ctx, pools[10:]...); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute) // the outage itself
			mend()
			after := f.allReady(20)
			f.oneEach(after, 20)
			for i, p := range after[:10] {
				if p.Status.ID != before[i].Status.ID {
					t.Errorf("%s changed its pool", p.Name)
				}
			}
			if got := f.Proxy.Counts().Of("DELETE", "", 0); got != 0 {
				t.Errorf("%d deletions", got)
			}
			if got := len(f.remotePools()); got != 20 {
				t.Errorf("the server has %d pools", got)
			}
		})
	}
}
