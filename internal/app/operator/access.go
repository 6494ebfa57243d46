package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/operator/access"
)

// accessTimeout bounds the questions to an API server that may not answer.
const accessTimeout = 30 * time.Second

// mayRead returns an error that names the fix if the operator may not fill its caches, which would otherwise wait
// forever. An API server that does not answer the question stops nothing.
func mayRead(ctx context.Context, api apiServer, cfg operatorconfig.Operator, log logr.Logger) error {
	reviews, err := authorizationclient.NewForConfig(api.config)
	if err != nil {
		return fmt.Errorf("make a client of the API server: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, accessTimeout)
	defer cancel()
	err = access.Check(ctx, reviews.SelfSubjectAccessReviews(), cfg.Namespaces(), api.namespace)
	var denied *access.DeniedError
	if err != nil && !errors.As(err, &denied) {
		log.Info("cannot find out whether the rights suffice", "error", err.Error())
		return nil
	}
	return err
}
