package operator_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// Resources of another server that are deleted before this one has taken them over go at once, and what this server has of
// their names stays: it is somebody else's, and may have pools.
func TestDeletedAfterMoveToAnotherServer(t *testing.T) {
	t.Parallel()
	e := setup(t)
	at := e.fill()
	endpoint, credential, enterprise, organization, repository, pool := e.mirrors()
	const other = "11111111-2222-4333-8444-555555555555"
	status := func(id string) v1beta1.EntityStatus {
		return v1beta1.EntityStatus{ID: id, ControllerID: other, Endpoint: stack.EndpointName}
	}
	endpoint.Status.ControllerID = other
	credential.Status.ID, credential.Status.ControllerID = int64(at.credentials.ID), other
	enterprise.Status, organization.Status, repository.Status = status("e"), status("o"), status("r")
	pool.Status.ID, pool.Status.ControllerID = at.pool.ID, other
	e.apply(e.Base()[0], e.Base()[1], e.Base()[2], e.Base()[6])
	all := map[client.Object]string{
		endpoint: v1beta1.FinalizerGitHubEndpoint, credential: v1beta1.FinalizerGitHubCredential, enterprise: v1beta1.FinalizerEnterprise,
		organization: v1beta1.FinalizerOrganization, repository: v1beta1.FinalizerRepository, pool: v1beta1.FinalizerPool,
	}
	e.restore(all)
	objects := []client.Object{endpoint, credential, enterprise, organization, repository, pool}
	for _, obj := range objects {
		e.delete(obj)
	}
	e.run()
	e.gone(objects...)
	if n := e.Proxy.Counts().Of("DELETE", "", 0); n != 0 {
		t.Errorf("%d DELETEs:\n%s", n, e.Proxy.Counts())
	}
}
