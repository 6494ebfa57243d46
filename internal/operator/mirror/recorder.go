package mirror

import (
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Recorder returns a recorder of core/v1 events, which is what users of the operator grant and read.
func Recorder(mgr ctrl.Manager, component string) record.EventRecorder {
	return mgr.GetEventRecorderFor(component) //nolint:staticcheck // the newer recorder writes to another API group, which installed roles do not grant
}
