package garm_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/garm-operator/garm-operator/garm"
)

func TestOutcomeUnknown(t *testing.T) {
	for kind, want := range map[garm.ErrorKind]bool{
		garm.KindUnknown: false, garm.KindNotFound: false, garm.KindInvalid: false, garm.KindConflict: false,
		garm.KindUnauthorized: false, garm.KindInitRequired: false, garm.KindURLsRequired: false,
		garm.KindRateLimited: false, garm.KindNoRoute: false,
		garm.KindUnavailable: true, garm.KindTransport: true, garm.KindTimeout: true, garm.KindUndecodable: true,
	} {
		err := fmt.Errorf("create pool: %w", &garm.Error{Kind: kind, Op: "pool.CreateOrg"})
		if got := garm.OutcomeUnknown(err); got != want {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
		if garm.OutcomeUnknown(&garm.Error{Kind: kind, NotSent: true}) {
			t.Errorf("%s: a call that was not sent has an unknown outcome", kind)
		}
		if kind.String() == "" {
			t.Errorf("kind %d has no name", kind)
		}
	}
	if garm.OutcomeUnknown(nil) || garm.OutcomeUnknown(errors.New("other")) {
		t.Error("what is no garm.Error has an unknown outcome")
	}
}
