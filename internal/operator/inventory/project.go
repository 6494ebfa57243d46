package inventory

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
)

// maxFault is how many bytes of a provider's complaint are shown. Providers print whole stack traces.
const maxFault = 4096

// project writes what is known of an instance into the status of its Runner. Conditions are not touched. Addresses that
// are not shown, as in lists, stay as long as it is the same instance.
func project(status *v1beta1.RunnerStatus, i garm.Instance, pool, controllerID string) {
	addresses := make([]v1beta1.RunnerAddress, 0, len(i.Addresses))
	for _, a := range i.Addresses {
		addresses = append(addresses, v1beta1.RunnerAddress{Address: a.Address, Type: a.Type})
	}
	if len(addresses) == 0 && status.ID == i.ID {
		addresses = status.Addresses
	}
	if len(addresses) == 0 {
		addresses = nil
	}
	*status = v1beta1.RunnerStatus{
		ID: i.ID, ProviderID: i.ProviderID, AgentID: i.AgentID, Name: i.Name,
		OSType: i.OSType, OSName: i.OSName, OSVersion: i.OSVersion, OSArch: i.OSArch,
		Addresses: addresses, Status: string(i.RunnerStatus), InstanceStatus: string(i.Status),
		PoolID: pool, ProviderFault: faultText(i.ProviderFault), GitHubRunnerGroup: i.RunnerGroup, ControllerID: controllerID,
		ObservedGeneration: status.ObservedGeneration, Conditions: status.Conditions,
	}
}

// faultText makes valid, bounded text of what a provider printed.
func faultText(fault []byte) string {
	cut := len(fault) > maxFault
	text := strings.ToValidUTF8(string(fault[:min(len(fault), maxFault)]), "\uFFFD")
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	if cut {
		text += " ..."
	}
	return text
}

// mark gives a Runner the metadata that every shown one has, and says whether it lacked any.
func mark(obj *v1beta1.Runner, pool string) bool {
	changed := controllerutil.AddFinalizer(obj, v1beta1.FinalizerRunner)
	labels := maps.Clone(obj.Labels)
	if len(validation.IsValidLabelValue(pool)) == 0 {
		if labels == nil {
			labels = map[string]string{}
		}
		labels[v1beta1.LabelPool] = pool
	} else {
		delete(labels, v1beta1.LabelPool)
	}
	if !maps.Equal(labels, obj.Labels) {
		obj.Labels, changed = labels, true
	}
	return changed
}
