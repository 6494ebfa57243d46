package api_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

func (c *cluster) runner(t *testing.T, name, pool, status, instanceStatus string) *v1beta1.Runner {
	t.Helper()
	runner := &v1beta1.Runner{}
	runner.Name, runner.Namespace = name, c.namespace
	if err := c.Create(t.Context(), runner); err != nil {
		t.Fatal(err)
	}
	runner.Status.PoolID, runner.Status.Status, runner.Status.InstanceStatus = pool, status, instanceStatus
	if err := c.Status().Update(t.Context(), runner); err != nil {
		t.Fatal(err)
	}
	return runner
}

func selector(t *testing.T, text string) client.ListOption {
	t.Helper()
	parsed, err := fields.ParseSelector(text)
	if err != nil {
		t.Fatal(err)
	}
	return client.MatchingFieldsSelector{Selector: parsed}
}

func TestRunnerFieldSelectors(t *testing.T) {
	c := connect(t)
	c.runner(t, "a", "small", "idle", "running")
	c.runner(t, "b", "small", "active", "running")
	c.runner(t, "c", "large", "pending", "creating")
	for _, tc := range []struct {
		selector string
		want     []string
	}{
		{"status.poolId=small", []string{"a", "b"}},
		{"status.poolId!=small", []string{"c"}},
		{"status.status=active", []string{"b"}},
		{"status.instanceStatus=creating", []string{"c"}},
		{"status.poolId=small,status.status!=active", []string{"a"}},
		{"status.poolId=none", nil},
	} {
		t.Run("OP-39 "+tc.selector, func(t *testing.T) {
			list := &v1beta1.RunnerList{}
			if err := c.List(t.Context(), list, client.InNamespace(c.namespace), selector(t, tc.selector)); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, runner := range list.Items {
				got = append(got, runner.Name)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("OP-39 a field that is not selectable", func(t *testing.T) {
		err := c.List(t.Context(), &v1beta1.RunnerList{}, selector(t, "status.osName=ubuntu"))
		expect(t, err, "field label not supported: status.osName")
	})
}

// TestRunnerWatchByPool shows what kubectl get runners --watch --field-selector shows: a runner enters when it begins to
// match and leaves when it no longer does.
func TestRunnerWatchByPool(t *testing.T) {
	c := connect(t)
	watcher, err := c.Watch(t.Context(), &v1beta1.RunnerList{}, client.InNamespace(c.namespace), selector(t, "status.poolId=small"))
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()

	c.runner(t, "other", "large", "idle", "running")
	runner := c.runner(t, "mine", "small", "idle", "running")
	runner.Status.PoolID = "large"
	if err := c.Status().Update(t.Context(), runner); err != nil {
		t.Fatal(err)
	}
	var got []string
	timeout := time.After(deadline)
	for len(got) < 2 {
		select {
		case event, open := <-watcher.ResultChan():
			if !open {
				t.Fatalf("the watch ended after %v", got)
			}
			if seen, ok := event.Object.(*v1beta1.Runner); ok {
				got = append(got, fmt.Sprintf("%s %s", event.Type, seen.Name))
			}
		case <-timeout:
			t.Fatalf("only %v came", got)
		}
	}
	want := []string{fmt.Sprintf("%s mine", watch.Added), fmt.Sprintf("%s mine", watch.Deleted)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("OP-39: %s", diff)
	}
}
