package mirror

import (
	"context"
	"fmt"
	"maps"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// Pass is one look at one resource.
type Pass[O Object] struct {
	// Object is the resource. Metadata is changed with Annotate, status in Project.
	Object O
	// Client reads from the cache and writes; Live reads from the API server.
	Client client.Client
	Live   client.Reader
	// Session and View are the server as it was when the pass began.
	Session *remote.Session
	View    *remote.View
	// Conditions collects what the pass finds out.
	Conditions status.Set
	Log        logr.Logger
	events     record.EventRecorder

	before  O
	marks   map[string]string
	created bool
	// freed says that the finalizer is gone, and with it perhaps the resource.
	freed bool
}

// ControllerID is the identity under which recorded ids count.
func (p *Pass[O]) ControllerID() string {
	if p.View == nil {
		return ""
	}
	return p.View.Identity().ControllerID
}

// Event tells the user what happened. Tell transitions only.
func (p *Pass[O]) Event(kind, reason, format string, args ...any) {
	p.events.Event(p.Object, kind, reason, fmt.Sprintf(format, args...))
}

// Mark stores an annotation after the pass. An empty value removes it.
func (p *Pass[O]) Mark(annotation, value string) {
	if p.marks == nil {
		p.marks = map[string]string{}
	}
	p.marks[annotation] = value
}

// MarkSecret records, after the pass, which secret inputs were sent last.
func (p *Pass[O]) MarkSecret(marker string) { p.Mark(v1beta1.AnnotationSecretMarker, marker) }

// SecretMarker returns what MarkSecret has recorded in an earlier pass.
func (p *Pass[O]) SecretMarker() string {
	return p.Object.GetAnnotations()[v1beta1.AnnotationSecretMarker]
}

// unstored are the marks that the resource does not have yet.
func (p *Pass[O]) unstored() map[string]string {
	left := map[string]string{}
	for annotation, value := range p.marks {
		if p.Object.GetAnnotations()[annotation] != value {
			left[annotation] = value
		}
	}
	return left
}

// Annotate stores annotations at once, with optimistic locking: it fails if the resource is not what this pass has read.
// An empty value removes one.
func (p *Pass[O]) Annotate(ctx context.Context, annotations map[string]string) error {
	return p.writeMetadata(ctx, func(obj O) { annotate(obj, annotations) }, client.MergeFromWithOptimisticLock{})
}

// storeMarks stores what was marked. It tells of what is done, so it holds whatever else has become of the resource meanwhile.
func (p *Pass[O]) storeMarks(ctx context.Context) error {
	left := p.unstored()
	if len(left) == 0 {
		return nil
	}
	return p.writeMetadata(ctx, func(obj O) { annotate(obj, left) })
}

func annotate(obj Object, annotations map[string]string) {
	all := map[string]string{}
	maps.Copy(all, obj.GetAnnotations())
	for k, v := range annotations {
		if v == "" {
			delete(all, k)
		} else {
			all[k] = v
		}
	}
	obj.SetAnnotations(all)
}

// writeMetadata stores what change does to the metadata. What replaces a list, such as finalizers, needs optimistic locking.
func (p *Pass[O]) writeMetadata(ctx context.Context, change func(O), options ...client.MergeFromOption) error {
	base := clone(p.Object)
	change(p.Object)
	if err := p.Client.Patch(ctx, p.Object, client.MergeFromWithOptions(base, options...)); err != nil {
		return fmt.Errorf("write metadata: %w", err)
	}
	p.before = clone(p.Object)
	return nil
}

func clone[O Object](obj O) O { return obj.DeepCopyObject().(O) }
