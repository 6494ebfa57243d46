package localprovider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/garm-operator/garm-operator/garm/provider"
)

// Fault is a kind of trouble that a pool can ask for.
type Fault string

// Faults. The flavors "broken" and "hang" mean the first two.
const (
	// FaultFail makes CreateInstance fail, with nothing made.
	FaultFail Fault = "fail"
	// FaultHang makes CreateInstance never come back.
	FaultHang Fault = "hang"
	// FaultPendingCreate makes a machine and answers with a status that no provider may give.
	FaultPendingCreate Fault = "pending_create"
	// FaultNoID makes a machine and answers without its id.
	FaultNoID Fault = "no_id"
	// FaultError makes a machine and answers that it is in error.
	FaultError Fault = "error"
	// FaultDuplicate makes CreateInstance say that the machine exists already.
	FaultDuplicate Fault = "duplicate"
	// FaultDelete makes DeleteInstance fail, with nothing removed.
	FaultDelete Fault = "delete"
)

// extraSpecs are the keys that the provider reads from the extra specs of a pool; it ignores others.
type extraSpecs struct {
	Fault Fault `json:"fault"`
	// CreateDelay is how long CreateInstance takes at least.
	CreateDelay string `json:"create_delay"`
}

// wish is what a pool asks for.
type wish struct {
	fault Fault
	delay time.Duration
}

func readWish(flavor string, specs json.RawMessage) (wish, error) {
	var s extraSpecs
	// Extra specs that are not an object are legal and say nothing to this provider.
	if len(specs) > 0 && specs[0] == '{' {
		if err := json.Unmarshal(specs, &s); err != nil {
			return wish{}, errors.New("extra_specs: fault and create_delay have to be text")
		}
	}
	w := wish{fault: s.Fault}
	switch flavor {
	case "broken":
		w.fault = FaultFail
	case "hang":
		w.fault = FaultHang
	}
	if s.CreateDelay != "" {
		delay, err := time.ParseDuration(s.CreateDelay)
		if err != nil || delay < 0 {
			return wish{}, fmt.Errorf("extra_specs: create_delay is %q: give a duration such as 300ms", s.CreateDelay)
		}
		w.delay = delay
	}
	switch w.fault {
	case "", FaultFail, FaultHang, FaultPendingCreate, FaultNoID, FaultError, FaultDuplicate, FaultDelete:
		return w, nil
	}
	return wish{}, fmt.Errorf("extra_specs: there is no fault %q", w.fault)
}

// before is the trouble that comes instead of a machine.
func (w wish) before(ctx context.Context, flavor string) error {
	delay := w.delay
	if w.fault == FaultHang {
		delay = 1<<63 - 1
	}
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	switch w.fault {
	case FaultFail:
		return fmt.Errorf("no capacity for flavor %s", flavor)
	case FaultDuplicate:
		return provider.ErrDuplicate
	}
	return nil
}

// spoil is the trouble in the answer about a machine that was made.
func (w wish) spoil(answer provider.Instance) provider.Instance {
	switch w.fault {
	case FaultPendingCreate:
		answer.Status = "pending_create"
	case FaultNoID:
		answer.ProviderID = ""
	case FaultError:
		answer.Status, answer.ProviderFault = provider.StatusError, []byte("the machine broke down, as its pool asked")
	}
	return answer
}
