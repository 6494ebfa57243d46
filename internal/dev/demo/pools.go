package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/wait"
)

// pool is what the demo needs to know of a Pool in the manifests.
type pool struct {
	name    string
	minIdle int
	tags    []string
	// repo is a repository whose jobs the pool serves.
	repo string
}

// pools reads the Pools out of the manifests.
func (w *world) pools() []pool {
	var pools []pool
	for _, object := range w.objects {
		if object.GetKind() != "Pool" {
			continue
		}
		p := pool{name: object.GetName()}
		minIdle, _, _ := unstructured.NestedInt64(object.Object, "spec", "minIdleRunners")
		p.minIdle = int(minIdle)
		p.tags, _, _ = unstructured.NestedStringSlice(object.Object, "spec", "tags")
		scope, _, _ := unstructured.NestedStringMap(object.Object, "spec", "githubScopeRef")
		p.repo = scope["name"] + "/demo"
		if scope["kind"] == "Repository" {
			owner, _, _ := unstructured.NestedString(w.object("Repository", scope["name"]).Object, "spec", "owner")
			p.repo = owner + "/" + scope["name"]
		}
		pools = append(pools, p)
	}
	return pools
}

func (w *world) object(kind, name string) *unstructured.Unstructured {
	for _, object := range w.objects {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	return &unstructured.Unstructured{}
}

// runners reads the Runner objects.
func (w *world) runners(ctx context.Context) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("RunnerList"))
	if err := w.kube.List(ctx, list, kube.InNamespace(w.namespace)); err != nil {
		return nil, fmt.Errorf("listing runners: %w", err)
	}
	return list.Items, nil
}

// idle counts the runners of each pool that are idle and never served a job, as the API server shows them.
func (w *world) idle(ctx context.Context) (map[string]int, error) {
	runners, err := w.runners(ctx)
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, runner := range runners {
		status, _, _ := unstructured.NestedString(runner.Object, "status", "status")
		poolID, _, _ := unstructured.NestedString(runner.Object, "status", "poolId")
		if garm.RunnerStatus(status) == garm.RunnerIdle && !w.served[runner.GetName()] {
			count[poolID]++
		}
	}
	return count, nil
}

func (w *world) waitFirstIdle(ctx context.Context) (string, error) {
	return w.waitIdle(ctx, func(count map[string]int) error {
		for _, n := range count {
			if n > 0 {
				w.firstIdle = time.Now()
				return nil
			}
		}
		return fmt.Errorf("no runner is idle")
	})
}

func (w *world) waitPoolsFull(ctx context.Context) (string, error) {
	return w.waitIdle(ctx, func(count map[string]int) error {
		for _, p := range w.pools() {
			if count[p.name] != p.minIdle {
				return fmt.Errorf("pool %s has %d idle runners, not %d", p.name, count[p.name], p.minIdle)
			}
		}
		return nil
	})
}

func (w *world) waitIdle(ctx context.Context, enough func(map[string]int) error) (string, error) {
	var seen string
	err := wait.Until(ctx, func() error {
		count, err := w.idle(ctx)
		if err != nil {
			return err
		}
		seen = ""
		for _, p := range w.pools() {
			seen += fmt.Sprintf(" %s %d/%d", p.name, count[p.name], p.minIdle)
		}
		return enough(count)
	})
	return seen, err
}

// waitReplaced waits until no runner that served a job is left anywhere, and the pools are full again.
func (w *world) waitReplaced(ctx context.Context) (string, error) {
	err := wait.Until(ctx, func() error {
		names, err := w.names(ctx)
		if err != nil {
			return err
		}
		for side, all := range names {
			for _, name := range all {
				if w.served[name] {
					return fmt.Errorf("%s still shows %s, which served a job", side, name)
				}
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return w.waitPoolsFull(ctx)
}

// names returns the runners that each side shows, sorted.
func (w *world) names(ctx context.Context) (map[string][]string, error) {
	var inKube, inGARM, atGitHub []string
	runners, err := w.runners(ctx)
	if err != nil {
		return nil, err
	}
	for _, runner := range runners {
		inKube = append(inKube, runner.GetName())
	}
	instances, err := w.session.ListInstances(ctx)
	if err != nil {
		return nil, err
	}
	for _, instance := range instances {
		inGARM = append(inGARM, instance.Name)
	}
	for _, runner := range w.github.Runners("") {
		atGitHub = append(atGitHub, runner.Name)
	}
	for _, names := range [][]string{inKube, inGARM, atGitHub} {
		slices.Sort(names)
	}
	return map[string][]string{"API server": inKube, "GARM": inGARM, "GitHub": atGitHub}, nil
}

func (w *world) compareSides(ctx context.Context) (string, error) {
	var seen string
	err := wait.Until(ctx, func() error {
		names, err := w.names(ctx)
		if err != nil {
			return err
		}
		for side, all := range names {
			if !slices.Equal(all, names["GARM"]) {
				return fmt.Errorf("%s shows %v, GARM %v", side, all, names["GARM"])
			}
		}
		seen = fmt.Sprintf("%d runners", len(names["GARM"]))
		return nil
	})
	return seen, err
}
