package metrics

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

var (
	resources = desc("resources", "How many resources there are, by the status of their condition Ready: true, false, or unknown where it is not there yet.",
		"kind", "ready")
	notReadySince = desc("resource_not_ready_since_timestamp_seconds", "Since when a resource that a user has written is not Ready, in Unix seconds.",
		"kind", "namespace", "name", "reason")
	deleting      = desc("resources_deleting", "How many resources are being deleted and still there.", "kind")
	deletingSince = desc("oldest_deletion_timestamp_seconds", "When the longest of these deletions was asked for, in Unix seconds.", "kind")
)

// kinds are all kinds of the group. Every one is watched by a controller.
var kinds = []struct {
	name string
	list func() client.ObjectList
	// single says that each resource may have series of its own: those that users write.
	single bool
}{
	{v1beta1.KindEnterprise, func() client.ObjectList { return &v1beta1.EnterpriseList{} }, true},
	{v1beta1.KindGarmServerConfig, func() client.ObjectList { return &v1beta1.GarmServerConfigList{} }, true},
	{v1beta1.KindGitHubCredential, func() client.ObjectList { return &v1beta1.GitHubCredentialList{} }, true},
	{v1beta1.KindGitHubEndpoint, func() client.ObjectList { return &v1beta1.GitHubEndpointList{} }, true},
	{v1beta1.KindImage, func() client.ObjectList { return &v1beta1.ImageList{} }, true},
	{v1beta1.KindOrganization, func() client.ObjectList { return &v1beta1.OrganizationList{} }, true},
	{v1beta1.KindPool, func() client.ObjectList { return &v1beta1.PoolList{} }, true},
	{v1beta1.KindRepository, func() client.ObjectList { return &v1beta1.RepositoryList{} }, true},
	{v1beta1.KindRunner, func() client.ObjectList { return &v1beta1.RunnerList{} }, false},
}

// census is what is counted of one kind.
type census struct {
	ready    map[metav1.ConditionStatus]int
	deleting int
	oldest   time.Time
}

func (s *State) resources(ctx context.Context, out sink) error {
	for _, kind := range kinds {
		list := kind.list()
		if err := s.source.Reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return fmt.Errorf("list %s: %w", kind.name, err)
		}
		count := census{ready: map[metav1.ConditionStatus]int{}}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			obj, ok := item.(client.Object)
			if !ok {
				return fmt.Errorf("%T is no resource", item)
			}
			count.add(obj)
			if since, reason, late := notReady(obj); late && kind.single {
				out.set(notReadySince, float64(since.Unix()), kind.name, obj.GetNamespace(), obj.GetName(), reason)
			}
			if pool, ok := obj.(*v1beta1.Pool); ok {
				s.pool(out, pool)
			}
			return nil
		})
		if err != nil {
			return err
		}
		count.tell(out, kind.name)
	}
	return nil
}

func (c *census) add(obj client.Object) {
	c.ready[readiness(obj)]++
	if at := obj.GetDeletionTimestamp(); at != nil {
		c.deleting++
		if c.oldest.IsZero() || at.Time.Before(c.oldest) {
			c.oldest = at.Time
		}
	}
}

func (c *census) tell(out sink, kind string) {
	out.set(resources, float64(c.ready[metav1.ConditionTrue]), kind, "true")
	out.set(resources, float64(c.ready[metav1.ConditionFalse]), kind, "false")
	out.set(resources, float64(c.ready[metav1.ConditionUnknown]), kind, "unknown")
	out.set(deleting, float64(c.deleting), kind)
	if c.deleting > 0 {
		out.set(deletingSince, float64(c.oldest.Unix()), kind)
	}
}

// readiness is the status of Ready. An Image has no conditions: it is nothing but its spec, and ready when it is there.
func readiness(obj client.Object) metav1.ConditionStatus {
	conditioned, ok := obj.(v1beta1.Conditioned)
	if !ok {
		return metav1.ConditionTrue
	}
	if c := status.Find(conditioned, v1beta1.ConditionReady); c != nil {
		return c.Status
	}
	return metav1.ConditionUnknown
}

// notReady says since when and why a resource is not Ready. One that nobody has looked at yet has waited since it was
// made. A paused one is as its user wants it.
func notReady(obj client.Object) (since time.Time, reason string, late bool) {
	conditioned, ok := obj.(v1beta1.Conditioned)
	if !ok || mirror.Paused(obj) {
		return since, "", false
	}
	c := status.Find(conditioned, v1beta1.ConditionReady)
	switch {
	case c == nil:
		return obj.GetCreationTimestamp().Time, v1beta1.ReasonUnknownReason, true
	case c.Status == metav1.ConditionTrue:
		return since, "", false
	}
	return c.LastTransitionTime.Time, c.Reason, true
}
