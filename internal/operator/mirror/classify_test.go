package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

func TestClassify(t *testing.T) {
	failed := func(kind garm.ErrorKind) error {
		return fmt.Errorf("call: %w", &garm.Error{Kind: kind, Op: "pool.Get", RetryAfterSeconds: 7, Err: errors.New("127.0.0.1:4711")})
	}
	for name, c := range map[string]struct {
		verb   mirror.Verb
		err    error
		class  mirror.Class
		reason string
		silent bool
	}{
		"nothing":                 {class: mirror.Settled},
		"an outcome stays":        {err: fmt.Errorf("step: %w", mirror.Stop("Why", "so")), class: mirror.Terminal, reason: "Why"},
		"invalid":                 {verb: mirror.Creating, err: failed(garm.KindInvalid), class: mirror.Terminal, reason: v1beta1.ReasonInvalidSpec},
		"invalid on delete":       {verb: mirror.Deleting, err: failed(garm.KindInvalid), class: mirror.Waiting, reason: v1beta1.ReasonInUse},
		"conflict on delete":      {verb: mirror.Deleting, err: failed(garm.KindConflict), class: mirror.Waiting, reason: v1beta1.ReasonDeletionFailed},
		"unauthorized":            {err: failed(garm.KindUnauthorized), class: mirror.Waiting, reason: v1beta1.ReasonGarmUnavailable},
		"URLs":                    {err: failed(garm.KindURLsRequired), class: mirror.Waiting, reason: v1beta1.ReasonControllerURLsMissing},
		"rate limit":              {err: failed(garm.KindRateLimited), class: mirror.Waiting, reason: v1beta1.ReasonRateLimited},
		"timeout is no absence":   {verb: mirror.Deleting, err: failed(garm.KindTimeout), class: mirror.Transient, reason: v1beta1.ReasonDeletionFailed},
		"5xx":                     {err: failed(garm.KindUnavailable), class: mirror.Transient, reason: v1beta1.ReasonGarmAPIError},
		"no route is no absence":  {verb: mirror.Deleting, err: failed(garm.KindNoRoute), class: mirror.Transient, reason: v1beta1.ReasonDeletionFailed},
		"undecodable":             {err: failed(garm.KindUndecodable), class: mirror.Transient, reason: v1beta1.ReasonGarmAPIError},
		"another controller":      {err: remote.ErrStaleView, class: mirror.Waiting, silent: true},
		"the session is not well": {err: fmt.Errorf("x: %w", remote.ErrNotReady), class: mirror.Waiting, silent: true},
		"the process stops":       {err: context.Canceled, class: mirror.Waiting, silent: true},
		"write conflict":          {err: apierrors.NewConflict(schema.GroupResource{}, "x", errors.New("y")), class: mirror.Waiting, silent: true},
		"anything else":           {err: errors.New("boom"), class: mirror.Transient, reason: v1beta1.ReasonReconcileError},
	} {
		t.Run(name, func(t *testing.T) {
			o := mirror.Classify(c.verb, c.err)
			if o.Class != c.class || o.Reason != c.reason || o.Silent != c.silent {
				t.Errorf("%+v", o)
			}
			if _, err := o.Result(); (err != nil) != (c.class == mirror.Transient) {
				t.Errorf("result error %v for class %d", err, c.class)
			}
		})
	}
	if o := mirror.Classify(mirror.Observing, failed(garm.KindTransport)); o.Message != "pool.Get: no answer from the GARM server (transport)" {
		t.Errorf("a message that changes each time: %q", o.Message)
	}
	if o := mirror.Classify(mirror.Observing, failed(garm.KindRateLimited)); o.After != 7*time.Second {
		t.Errorf("rate-limited for %s", o.After)
	}
}

func TestJoinTakesTheWorseAndTheSooner(t *testing.T) {
	a := mirror.Outcome{Class: mirror.Settled, After: time.Second}
	b := mirror.Outcome{Class: mirror.Degraded, Reason: "R", After: time.Minute}
	for _, o := range []mirror.Outcome{mirror.Join(a, b), mirror.Join(b, a)} {
		if o.Class != mirror.Degraded || o.Reason != "R" || o.After != time.Second {
			t.Errorf("%+v", o)
		}
	}
}
