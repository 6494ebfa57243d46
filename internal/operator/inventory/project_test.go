package inventory

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
)

func TestProject(t *testing.T) {
	conditions := []metav1.Condition{{Type: "Ready"}}
	old := v1beta1.RunnerStatus{
		ID: "1", ProviderFault: "gone by now", Conditions: conditions, ObservedGeneration: 3,
		Addresses: []v1beta1.RunnerAddress{{Address: "10.0.0.1", Type: "private"}},
	}
	instance := garm.Instance{
		ID: "1", ProviderID: "vm-1", AgentID: 7, Name: "garm-AbC", OSType: "linux", OSName: "ubuntu", OSVersion: "24.04", OSArch: "amd64",
		Status: garm.InstanceRunning, RunnerStatus: garm.RunnerIdle, PoolID: "5f1c", RunnerGroup: "default",
	}
	want := v1beta1.RunnerStatus{
		ID: "1", ProviderID: "vm-1", AgentID: 7, Name: "garm-AbC", OSType: "linux", OSName: "ubuntu", OSVersion: "24.04", OSArch: "amd64",
		Addresses: old.Addresses, Status: "idle", InstanceStatus: "running", PoolID: "small", GitHubRunnerGroup: "default",
		ControllerID: "c", Conditions: conditions, ObservedGeneration: 3,
	}
	got := old
	project(&got, instance, "small", "c")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a list does not show addresses, so they stay (-want +got):\n%s", diff)
	}
	instance.ID, want.ID, want.Addresses = "2", "2", nil
	project(&got, instance, "small", "c")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("another instance of the name has other addresses (-want +got):\n%s", diff)
	}
	instance.Addresses = []garm.Address{{Address: "192.0.2.1", Type: "public"}}
	want.Addresses = []v1beta1.RunnerAddress{{Address: "192.0.2.1", Type: "public"}}
	project(&got, instance, "small", "c")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("new addresses (-want +got):\n%s", diff)
	}
}

func TestFaultText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fault := rapid.SliceOfN(rapid.Byte(), 0, 3*maxFault).Draw(t, "fault")
		text := faultText(fault)
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			t.Errorf("the text of %q is not fit for a status", fault)
		}
		if len(text) > 3*maxFault+len(" ...") {
			t.Errorf("the text has %d bytes", len(text))
		}
	})
	if got := faultText([]byte("quota\nexceeded\x1b[0m")); got != "quota\nexceeded[0m" {
		t.Errorf("got %q", got)
	}
	if got := faultText([]byte(strings.Repeat("x", maxFault+1))); got != strings.Repeat("x", maxFault)+" ..." {
		t.Errorf("a long fault ends with %q", got[len(got)-10:])
	}
}

func TestMark(t *testing.T) {
	obj := &v1beta1.Runner{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"mine": "1"}, Finalizers: []string{"example.org/other"}}}
	if !mark(obj, "small") || mark(obj, "small") {
		t.Error("marking changes something the first time only")
	}
	if diff := cmp.Diff(map[string]string{"mine": "1", v1beta1.LabelPool: "small"}, obj.Labels); diff != "" {
		t.Errorf("OP-39: the label is the fallback of the field selector (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"example.org/other", v1beta1.FinalizerRunner}, obj.Finalizers); diff != "" {
		t.Error(diff)
	}
	if mark(obj, strings.Repeat("p", 64)); obj.Labels[v1beta1.LabelPool] != "" {
		t.Error("a name that is too long for a label leaves a wrong one")
	}
}
