package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	webhookadmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

type (
	request  = webhookadmission.Request
	response = webhookadmission.Response
)

// allow is for what the definitions' own rules cover.
func allow(context.Context, request) response { return webhookadmission.Allowed("") }

// unchecked lets through what could not be checked, and says so to whoever asked.
func unchecked(what string, err error) response {
	return webhookadmission.Allowed("").WithWarnings(fmt.Sprintf("%s was not checked: %v", what, err))
}

// invalid refuses a field of a Pool, as the API server itself does.
func invalid(name string, fault *field.Error) response {
	return refuse(apierrors.NewInvalid(v1beta1.GroupVersion.WithKind(v1beta1.KindPool).GroupKind(), name, field.ErrorList{fault}))
}

func refuse(err *apierrors.StatusError) response {
	r := webhookadmission.Denied("")
	r.Result = &err.ErrStatus
	return r
}

// decode reads the fields that both versions have, whatever version the text says.
func decode(raw runtime.RawExtension, into any) error {
	if err := json.Unmarshal(raw.Raw, into); err != nil {
		return fmt.Errorf("read the resource: %w", err)
	}
	return nil
}

func undecodable(err error) response { return webhookadmission.Errored(http.StatusBadRequest, err) }
