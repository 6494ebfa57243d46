package storageversion

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Options say what is looked at, and how fast.
type Options struct {
	// Definitions are the names of the definitions to look at. Required.
	Definitions []string
	// Namespaces are those that the operator may work in, where it must not list a whole cluster. Empty means all.
	Namespaces []string
	// Pause is the time between two writes. Default: 50 ms.
	Pause time.Duration
	// Log receives what was done and what could not be done. Default: nothing.
	Log logr.Logger
}

// pageSize is how many resources are listed at once, as metadata only.
const pageSize = 500

// The waits between attempts, for API servers and webhook servers that do not answer yet.
const (
	firstWait = time.Second
	lastWait  = time.Minute
)

// Rewriter is a runnable for the leader.
type Rewriter struct {
	client  client.Client
	options Options
	blind   sync.Once // says that definitions may not be read
}

// New makes a rewriter with a client of its own, without a cache. Without a mapper it asks the API server for what there is.
func New(config *rest.Config, mapper meta.RESTMapper, options Options) (*Rewriter, error) {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	// The definitions are large, and as JSON slow to read. It does not concern what they define, which is JSON always.
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeProtobuf
	c, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("make the client for stored versions: %w", err)
	}
	if options.Pause <= 0 {
		options.Pause = 50 * time.Millisecond
	}
	if options.Log.GetSink() == nil {
		options.Log = logr.Discard()
	}
	return &Rewriter{client: c, options: options}, nil
}

// NeedLeaderElection says that only the leader rewrites.
func (r *Rewriter) NeedLeaderElection() bool { return true }

// Start works until nothing is left to do or ctx ends. It returns no error: what is not rewritten stays readable as long as
// the webhook server converts it, and the next start tries again.
func (r *Rewriter) Start(ctx context.Context) error {
	left := r.options.Definitions
	backoff := wait.Backoff{Duration: firstWait, Factor: 2, Cap: lastWait, Steps: 10, Jitter: 0.1}
	for {
		var failed []string
		var last error
		for _, name := range left {
			if err := r.definition(ctx, name); err != nil {
				failed, last = append(failed, name), err
			}
		}
		if len(failed) == 0 {
			return nil
		}
		left = failed
		r.options.Log.V(1).Info("resources are still stored in an old version", "definitions", left, "error", last.Error())
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(backoff.Step()):
		}
	}
}

// definition rewrites the resources of one definition. The error is one that may pass.
func (r *Rewriter) definition(ctx context.Context, name string) error {
	log := r.options.Log.WithValues("definition", name)
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := r.client.Get(ctx, client.ObjectKey{Name: name}, definition); err != nil {
		if apierrors.IsForbidden(err) {
			r.blind.Do(func() { log.Info("may not look whether resources are stored in an old version", "error", err.Error()) })
			return nil
		}
		return client.IgnoreNotFound(err)
	}
	old := oldVersions(definition)
	if len(old) == 0 {
		return nil
	}
	result, err := r.resources(ctx, definition)
	if apierrors.IsForbidden(err) {
		log.Info("may not rewrite resources that are stored in an old version", "versions", old, "error", err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	if !result.everywhere && result.looked == 0 {
		return nil
	}
	log.Info("rewrote the resources that may be stored in an old version", "versions", old, "resources", result.written)
	switch {
	case result.failed > 0:
		log.Info("some resources stay in an old version", "resources", result.failed, "error", result.refused)
		return nil
	case !result.everywhere:
		log.Info("other namespaces may hold resources in an old version", "versions", old, "namespaces", r.options.Namespaces)
		return nil
	}
	return r.forget(ctx, log, definition)
}

// forget takes the old versions out of the definition's status.
func (r *Rewriter) forget(ctx context.Context, log logr.Logger, rewritten *apiextensionsv1.CustomResourceDefinition) error {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := r.client.Get(ctx, client.ObjectKeyFromObject(rewritten), definition); err != nil {
		return err
	}
	if storageVersion(definition) != storageVersion(rewritten) {
		return errors.New("the stored version has changed meanwhile")
	}
	base := definition.DeepCopy()
	definition.Status.StoredVersions = []string{storageVersion(definition)}
	err := r.client.Status().Patch(ctx, definition, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsForbidden(err) {
		log.Info("may not record that nothing is stored in an old version any more", "error", err.Error())
		return nil
	}
	return err
}

// oldVersions returns the versions that resources may be stored in beside the present one.
func oldVersions(definition *apiextensionsv1.CustomResourceDefinition) []string {
	var old []string
	for _, version := range definition.Status.StoredVersions {
		if version != storageVersion(definition) {
			old = append(old, version)
		}
	}
	return old
}

func storageVersion(definition *apiextensionsv1.CustomResourceDefinition) string {
	for _, version := range definition.Spec.Versions {
		if version.Storage {
			return version.Name
		}
	}
	return ""
}
