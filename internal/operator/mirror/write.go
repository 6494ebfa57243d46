package mirror

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// recordTimeout is how long a pass that has created something may go on trying to record it, even when the process is
// asked to stop.
const recordTimeout = 10 * time.Second

// patchStatus writes the status. After a create it does not give up at the first failure: what is not recorded has to be
// found again.
func (e *Engine[O, R]) patchStatus(ctx context.Context, p *Pass[O]) error {
	if !p.created {
		_, err := status.Patch(ctx, p.Client, p.before, p.Object)
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	backoff := wait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Steps: 7, Jitter: 0.2}
	return retry.OnError(backoff, func(err error) bool { return !apierrors.IsNotFound(err) && ctx.Err() == nil }, func() error {
		obj := clone(p.Object)
		if _, err := status.Patch(ctx, p.Client, p.before, obj); err != nil {
			return err
		}
		p.Object = obj
		return nil
	})
}

func now() metav1.Time { return metav1.NewTime(time.Now()) }
