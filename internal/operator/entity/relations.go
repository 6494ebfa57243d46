package entity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
)

// relations are the indices of one kind.
type relations[O mirror.Object] struct {
	credentials refs.Reference[O]
	secret      refs.Reference[O]
	// key is the name without the endpoint, that of the spec and that of what is recorded, id the id at the server.
	key refs.Reference[O]
	id  refs.Reference[O]
}

func (a *Adapter[O, R]) relations() relations[O] {
	ref := func(field string, names func(O) []string) refs.Reference[O] {
		return refs.Reference[O]{Field: field, Names: names, New: a.New, NewList: a.NewList, Items: a.Items}
	}
	return relations[O]{
		credentials: ref("spec.credentialsRef.name", func(o O) []string { return []string{a.Spec(o).CredentialsRef.Name} }),
		secret:      ref("spec.webhookSecretRef.name", func(o O) []string { return []string{a.Spec(o).WebhookSecret.Name} }),
		key:         ref("key", a.keys),
		id:          ref("status.id", func(o O) []string { return []string{a.Status(o).ID} }),
	}
}

// Owner says whether an older resource stands for the same entity.
func (a *actuator[O, R]) Owner(ctx context.Context) error {
	p := a.pass
	me := a.identityOf(ctx, p.Object)
	if me.endpoint == "" {
		return nil
	}
	siblings, err := a.relations.key.Referrers(ctx, p.Client, "", me.key())
	if err != nil {
		return err
	}
	same := []O{p.Object}
	for _, s := range siblings {
		if s.GetUID() != p.Object.GetUID() && a.identityOf(ctx, s).equal(me) {
			same = append(same, s)
		}
	}
	if owner := refs.Oldest(same); owner.GetUID() != p.Object.GetUID() {
		return mirror.Stop(v1beta1.ReasonNotOwner, fmt.Sprintf("%s %s/%s comes first and stands for the same %s at endpoint %q",
			a.Name, owner.GetNamespace(), owner.GetName(), strings.ToLower(a.Name), me.endpoint))
	}
	return nil
}

// PoolsOfScope is the index of Pools by the entity that they serve, as kind and name.
const PoolsOfScope = "spec.githubScopeRef"

// ScopeKey is a value of PoolsOfScope.
func ScopeKey(kind, name string) string { return kind + "/" + name }

// guardRetry is how often a deletion that pools hold up is looked at when nothing wakes it.
const guardRetry = time.Minute

// Guard waits for the pools of the entity, in the cluster and at the server.
func (a *actuator[O, R]) Guard(ctx context.Context) error {
	p := a.pass
	var pools v1beta1.PoolList
	err := p.Client.List(ctx, &pools, client.InNamespace(p.Object.GetNamespace()),
		client.MatchingFields{PoolsOfScope: ScopeKey(a.Name, p.Object.GetName())})
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(pools.Items, func(p v1beta1.Pool) bool { return refs.Left(&p) })
	if n := len(left); n > 0 {
		return mirror.Wait(v1beta1.ReasonInUse, fmt.Sprintf("%d Pools refer to it, among them %s; delete them first", n, left[0].Name), 0)
	}
	at, _ := p.View.PoolsOfEntity(a.seen)
	if n := len(at); n > 0 {
		return mirror.Wait(v1beta1.ReasonInUse, fmt.Sprintf("the GARM server has %d pools of it, among them %s, that no Pool stands for; delete them first",
			n, at[0].ID), guardRetry)
	}
	return nil
}

func orMissing(err error) error {
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("not found")
	}
	return err
}
