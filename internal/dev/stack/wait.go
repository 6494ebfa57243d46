package stack

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/dev/wait"
)

// Apply creates the objects.
func (s *Stack) Apply(ctx context.Context, objects ...client.Object) error {
	for _, object := range objects {
		if err := s.Kube.Create(ctx, object); err != nil {
			return fmt.Errorf("creating %T %s: %w", object, object.GetName(), err)
		}
	}
	return nil
}

// WaitReady waits until each of the objects that has conditions is Ready at its generation.
func (s *Stack) WaitReady(ctx context.Context, objects ...client.Object) error {
	return wait.Until(ctx, func() error {
		for _, object := range objects {
			conditioned, ok := object.(v1beta1.Conditioned)
			if !ok {
				continue
			}
			if err := s.Kube.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
				return err
			}
			if err := Ready(object, conditioned); err != nil {
				return err
			}
		}
		return nil
	})
}

// Ready returns what is missing for a resource to be Ready.
func Ready(object client.Object, conditioned v1beta1.Conditioned) error {
	condition := meta.FindStatusCondition(conditioned.GetConditions(), v1beta1.ConditionReady)
	switch {
	case condition == nil:
		return fmt.Errorf("%T %s has no condition Ready", object, object.GetName())
	case condition.Status != metav1.ConditionTrue:
		return fmt.Errorf("%T %s is not Ready: %s: %s", object, object.GetName(), condition.Reason, condition.Message)
	case condition.ObservedGeneration != object.GetGeneration():
		return fmt.Errorf("%T %s is Ready at generation %d, not %d", object, object.GetName(), condition.ObservedGeneration, object.GetGeneration())
	}
	return nil
}

// WaitAllReady waits until all n Pools of the namespace are Ready, with one list a look, and returns them.
func (s *Stack) WaitAllReady(ctx context.Context, n int) ([]v1beta1.Pool, error) {
	list := &v1beta1.PoolList{}
	err := wait.Until(ctx, func() error {
		if err := s.Kube.List(ctx, list, client.InNamespace(s.options.Namespace)); err != nil {
			return err
		}
		if len(list.Items) != n {
			return fmt.Errorf("there are %d Pools, not %d", len(list.Items), n)
		}
		waiting, last := 0, error(nil)
		for i := range list.Items {
			if err := Ready(&list.Items[i], &list.Items[i]); err != nil {
				waiting, last = waiting+1, err
			}
		}
		if waiting > 0 {
			return fmt.Errorf("%d Pools are not Ready, such as: %w", waiting, last)
		}
		return nil
	})
	return list.Items, err
}
