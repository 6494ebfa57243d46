package admission

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	webhookadmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// images holds the rule of Images.
type images struct{ lookup }

// Handle refuses to delete an Image that a Pool of its namespace uses, unless the Pool or the namespace is being deleted.
func (h *images) Handle(ctx context.Context, req request) response {
	if req.Operation != admissionv1.Delete || !h.watches(req.Namespace) {
		return webhookadmission.Allowed("")
	}
	user, err := h.user(ctx, req.Namespace, req.Name)
	if err != nil {
		return unchecked("whether a Pool uses the Image", err)
	}
	if user == nil || h.terminating(ctx, req.Namespace) {
		return webhookadmission.Allowed("")
	}
	return refuse(apierrors.NewBadRequest(fmt.Sprintf(
		"Image %q is used by Pool %q; delete the Pool, or change its spec.imageName, first", req.Name, user.Name)))
}

// user returns a Pool that uses the Image. The answer comes from the API server: a Pool that was created just before counts, one
// that was deleted just before does not, and Images are deleted so seldom that the list does no harm.
func (h *images) user(ctx context.Context, namespace, name string) (*v1beta1.Pool, error) {
	found, err := h.findLive(ctx, namespace, func(p *v1beta1.Pool) bool { return p.Spec.ImageName == name })
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// terminating says whether a namespace is being deleted. Whoever may not look sees one that is not.
func (h *images) terminating(ctx context.Context, name string) bool {
	namespace := &corev1.Namespace{}
	return h.live.Get(ctx, client.ObjectKey{Name: name}, namespace) == nil && !namespace.DeletionTimestamp.IsZero()
}
