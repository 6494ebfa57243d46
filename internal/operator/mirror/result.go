package mirror

import (
	"errors"

	ctrl "sigs.k8s.io/controller-runtime"
)

// Result is the only place where an outcome becomes a controller's result. A transient one is an error, so that the
// queue's growing delays apply; all others say themselves when to look again.
func (o Outcome) Result() (ctrl.Result, error) {
	if o.Class == Transient {
		if o.Err != nil {
			return ctrl.Result{}, o.Err
		}
		return ctrl.Result{}, errors.New(o.Message)
	}
	return ctrl.Result{RequeueAfter: o.After}, nil
}
