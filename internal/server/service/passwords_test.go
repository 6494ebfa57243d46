package service

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
)

// However many logins come at once, they never take more than half of the processors.
func TestLoginsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p passwords
		most := max(runtime.GOMAXPROCS(0)/2, 1)
		var held []func()
		for range most {
			done, err := p.take(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, done)
		}
		impatient, cancel := context.WithCancel(t.Context())
		refused := make(chan error, 1)
		go func() {
			_, err := p.check(impatient, nil, "x")
			refused <- err
		}()
		synctest.Wait()
		select {
		case err := <-refused:
			t.Fatalf("one more was let in: %v", err)
		default:
		}
		cancel()
		if err := <-refused; !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that has gone gets %v", err)
		}
		for _, done := range held {
			done()
		}
		if ok, err := p.check(t.Context(), nil, "x"); ok || err != nil {
			t.Errorf("nobody's password is right: %t, %v", ok, err)
		}
	})
}
