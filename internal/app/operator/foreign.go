package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// belonging is a resource and the GARM controller that it belongs to; the controller is empty where an operator that keeps none
// has left an id.
type belonging struct {
	resource   string
	controller string
}

// belongings returns what belongs to some controller. Runners follow their Pools.
func belongings(ctx context.Context, c client.Reader) ([]belonging, error) {
	var (
		all         []belonging
		configs     v1beta1.GarmServerConfigList
		credentials v1beta1.GitHubCredentialList
		enterprises v1beta1.EnterpriseList
		orgs        v1beta1.OrganizationList
		repos       v1beta1.RepositoryList
		pools       v1beta1.PoolList
	)
	for _, list := range []client.ObjectList{&configs, &credentials, &enterprises, &orgs, &repos, &pools} {
		if err := c.List(ctx, list); err != nil {
			return nil, fmt.Errorf("list %T: %w", list, err)
		}
	}
	add := func(kind string, o client.Object, known bool, controller string) {
		if known || controller != "" {
			all = append(all, belonging{resource: fmt.Sprintf("%s %s/%s", kind, o.GetNamespace(), o.GetName()), controller: controller})
		}
	}
	for _, o := range configs.Items {
		add(v1beta1.KindGarmServerConfig, &o, false, o.Status.ControllerID)
	}
	for _, o := range credentials.Items {
		add(v1beta1.KindGitHubCredential, &o, o.Status.ID != 0, o.Status.ControllerID)
	}
	for _, o := range enterprises.Items {
		add(v1beta1.KindEnterprise, &o, o.Status.ID != "", o.Status.ControllerID)
	}
	for _, o := range orgs.Items {
		add(v1beta1.KindOrganization, &o, o.Status.ID != "", o.Status.ControllerID)
	}
	for _, o := range repos.Items {
		add(v1beta1.KindRepository, &o, o.Status.ID != "", o.Status.ControllerID)
	}
	for _, o := range pools.Items {
		add(v1beta1.KindPool, &o, o.Status.ID != "", o.Status.ControllerID)
	}
	return all, nil
}

// foreign returns an error where a resource belongs to another controller than the own one: what that one has, runners that
// work among it, would be made a second time.
func foreign(all []belonging, own string) error {
	others := slices.DeleteFunc(slices.Clone(all), func(b belonging) bool { return b.controller == own })
	if len(others) == 0 {
		return nil
	}
	slices.SortFunc(others, func(a, b belonging) int { return strings.Compare(a.resource, b.resource) })
	first, whose := others[0], "a GARM server of an earlier operator"
	if first.controller != "" {
		whose = "GARM controller " + first.controller
	}
	return fmt.Errorf("%s belongs to %s, not to the embedded server's %s (resources of others: %d). "+
		"Use that server with --garm-server instead of --embedded-server, or bring back the embedded server's data directory if it was lost. "+
		"To leave behind what the other server has, and make everything anew here, start with --embedded-server-take-over",
		first.resource, whose, own, len(others))
}

// refuseForeign checks the resources that the operator works on. A user may want to take them over.
func (e *embeddedSession) refuseForeign(ctx context.Context, controllerID string) error {
	all, err := belongings(ctx, e.kube)
	if err != nil {
		return err
	}
	err = foreign(all, controllerID)
	if err != nil && e.config.TakeOver {
		e.log.Info("Resources of another GARM server are taken over, as --embedded-server-take-over says", "refusedOtherwise", err.Error())
		return nil
	}
	return err
}
