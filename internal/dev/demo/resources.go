package demo

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/config/crd"
	"github.com/garm-operator/garm-operator/internal/dev/wait"
)

func crds() fs.FS { return crd.Bases }

func (w *world) applyManifests(ctx context.Context) (string, error) {
	objects, err := readManifests(w.options.Samples, map[string]string{
		"GITHUB_URL": w.github.URL(), "GARM_URL": w.garmURL, "GITHUB_TOKEN": githubToken, "WEBHOOK_SECRET": randomText(),
	})
	if err != nil {
		return "", err
	}
	if w.options.Embedded { // the operator sets the URLs of its own server
		objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == v1beta1.KindGarmServerConfig })
	}
	w.objects = objects
	w.namespace = objects[0].GetNamespace()
	var kinds []string
	for _, object := range objects {
		kinds = append(kinds, object.GetKind())
	}
	return strings.Join(kinds, ", "), apply(ctx, w.kube, objects)
}

// waitReady waits until everything that can become Ready is.
func (w *world) waitReady(ctx context.Context) (string, error) {
	static := map[string]bool{"Secret": true, "Image": true}
	ready := 0
	err := wait.Until(ctx, func() error {
		ready = 0
		for _, object := range w.objects {
			if static[object.GetKind()] {
				continue
			}
			current := &unstructured.Unstructured{}
			current.SetGroupVersionKind(object.GroupVersionKind())
			if err := w.kube.Get(ctx, kube.ObjectKeyFromObject(object), current); err != nil {
				return err
			}
			if missing := notReady(current); missing != "" {
				return fmt.Errorf("%s", missing)
			}
			ready++
		}
		return nil
	})
	return fmt.Sprintf("%d resources", ready), err
}

// showTables prints what `kubectl get pools,runners` shows.
func (w *world) showTables(ctx context.Context, out *console) error {
	for _, resource := range []string{"pools", "runners"} {
		columns, rows, err := serverTable(ctx, w.plane.Config(), w.namespace, resource)
		if err != nil {
			return err
		}
		out.table("$ kubectl get "+resource, columns, rows)
	}
	return nil
}
