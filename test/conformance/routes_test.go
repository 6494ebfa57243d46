package conformance_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/garm/client"
)

// call makes the client send the request of an exchange. Ids are the variable parts of the path.
type call func(ctx context.Context, c *client.Client, ids []string, body json.RawMessage) (any, error)

type route struct {
	pattern string
	call    call
	// decode reads the answer of a route that the client has no method for.
	decode func(data []byte) (any, error)
}

func list[T any](f func(*client.Client, context.Context) ([]T, error)) call {
	return func(ctx context.Context, c *client.Client, _ []string, _ json.RawMessage) (any, error) {
		return f(c, ctx)
	}
}

func get[T any](f func(*client.Client, context.Context, string) (T, error)) call {
	return func(ctx context.Context, c *client.Client, ids []string, _ json.RawMessage) (any, error) {
		return f(c, ctx, ids[0])
	}
}

func remove(f func(*client.Client, context.Context, string) error) call {
	return func(ctx context.Context, c *client.Client, ids []string, _ json.RawMessage) (any, error) {
		return nil, f(c, ctx, ids[0])
	}
}

// paramsOf reads a request; what is no valid one is sent as an empty one, since the answer is what counts.
func paramsOf[P any](body json.RawMessage) P {
	var params, none P
	if json.Unmarshal(body, &params) != nil {
		return none
	}
	return params
}

func create[P, T any](f func(*client.Client, context.Context, P) (T, error)) call {
	return func(ctx context.Context, c *client.Client, _ []string, body json.RawMessage) (any, error) {
		return f(c, ctx, paramsOf[P](body))
	}
}

func update[P, T any](f func(*client.Client, context.Context, string, P) (T, error)) call {
	return func(ctx context.Context, c *client.Client, ids []string, body json.RawMessage) (any, error) {
		return f(c, ctx, ids[0], paramsOf[P](body))
	}
}

func as[T any](data []byte) (any, error) {
	var value T
	err := json.Unmarshal(data, &value)
	return value, err
}

// credentialsID is the id that placeholders become.
const credentialsID = 42

func credentials[T any](f func(*client.Client, context.Context, uint) (T, error)) call {
	return func(ctx context.Context, c *client.Client, _ []string, _ json.RawMessage) (any, error) {
		return f(c, ctx, credentialsID)
	}
}

var routes = []route{
	{pattern: "GET /controller", call: func(ctx context.Context, c *client.Client, _ []string, _ json.RawMessage) (any, error) {
		return c.GetController(ctx)
	}},
	{pattern: "GET /controller-info", call: func(ctx context.Context, c *client.Client, _ []string, _ json.RawMessage) (any, error) {
		return c.ControllerInfo(ctx)
	}},
	{pattern: "PUT /controller", call: create((*client.Client).UpdateController)},
	{pattern: "GET /providers", call: list((*client.Client).ListProviders)},
	{pattern: "GET /jobs", call: list((*client.Client).ListJobs)},
	{pattern: "POST /first-run", call: func(ctx context.Context, c *client.Client, _ []string, _ json.RawMessage) (any, error) {
		return c.FirstRun(ctx)
	}},

	{pattern: "GET /github/endpoints", call: list((*client.Client).ListEndpoints)},
	{pattern: "POST /github/endpoints", call: create((*client.Client).CreateEndpoint)},
	{pattern: "GET /github/endpoints/*", call: get((*client.Client).GetEndpoint)},
	{pattern: "PUT /github/endpoints/*", call: update((*client.Client).UpdateEndpoint)},
	{pattern: "DELETE /github/endpoints/*", call: remove((*client.Client).DeleteEndpoint)},

	{pattern: "GET /github/credentials", call: list((*client.Client).ListCredentials)},
	{pattern: "POST /github/credentials", call: create((*client.Client).CreateCredentials)},
	{pattern: "GET /github/credentials/42", call: credentials((*client.Client).GetCredentials)},
	{pattern: "PUT /github/credentials/42", call: func(ctx context.Context, c *client.Client, _ []string, body json.RawMessage) (any, error) {
		return c.UpdateCredentials(ctx, credentialsID, paramsOf[garm.UpdateCredentialsParams](body))
	}},
	{pattern: "DELETE /github/credentials/42", call: func(ctx context.Context, c *client.Client, _ []string, _ json.RawMessage) (any, error) {
		return nil, c.DeleteCredentials(ctx, credentialsID)
	}},

	{pattern: "GET /repositories", call: list((*client.Client).ListRepositories)},
	{pattern: "POST /repositories", call: create((*client.Client).CreateRepository)},
	{pattern: "GET /repositories/*", call: get((*client.Client).GetRepository)},
	{pattern: "PUT /repositories/*", call: update((*client.Client).UpdateRepository)},
	{pattern: "DELETE /repositories/*", call: remove((*client.Client).DeleteRepository)},
	{pattern: "GET /repositories/*/pools", call: get((*client.Client).ListRepositoryPools)},
	{pattern: "POST /repositories/*/pools", call: update((*client.Client).CreateRepositoryPool)},

	{pattern: "GET /organizations", call: list((*client.Client).ListOrganizations)},
	{pattern: "POST /organizations", call: create((*client.Client).CreateOrganization)},
	{pattern: "GET /organizations/*", call: get((*client.Client).GetOrganization)},
	{pattern: "PUT /organizations/*", call: update((*client.Client).UpdateOrganization)},
	{pattern: "DELETE /organizations/*", call: remove((*client.Client).DeleteOrganization)},
	{pattern: "GET /organizations/*/pools", call: get((*client.Client).ListOrganizationPools)},
	{pattern: "POST /organizations/*/pools", call: update((*client.Client).CreateOrganizationPool)},

	{pattern: "GET /repositories/*/webhook", call: get((*client.Client).GetRepositoryWebhook)},
	{pattern: "POST /repositories/*/webhook", call: update((*client.Client).InstallRepositoryWebhook)},
	{pattern: "DELETE /repositories/*/webhook", call: remove((*client.Client).UninstallRepositoryWebhook)},
	{pattern: "GET /organizations/*/webhook", call: get((*client.Client).GetOrganizationWebhook)},
	{pattern: "POST /organizations/*/webhook", call: update((*client.Client).InstallOrganizationWebhook)},
	{pattern: "DELETE /organizations/*/webhook", call: remove((*client.Client).UninstallOrganizationWebhook)},

	{pattern: "GET /enterprises", call: list((*client.Client).ListEnterprises)},
	{pattern: "POST /enterprises", call: create((*client.Client).CreateEnterprise)},
	{pattern: "GET /enterprises/*", call: get((*client.Client).GetEnterprise)},
	{pattern: "PUT /enterprises/*", call: update((*client.Client).UpdateEnterprise)},
	{pattern: "DELETE /enterprises/*", call: remove((*client.Client).DeleteEnterprise)},
	{pattern: "GET /enterprises/*/pools", call: get((*client.Client).ListEnterprisePools)},
	{pattern: "POST /enterprises/*/pools", call: update((*client.Client).CreateEnterprisePool)},

	{pattern: "GET /pools", call: list((*client.Client).ListPools)},
	{pattern: "GET /pools/*", call: get((*client.Client).GetPool)},
	{pattern: "PUT /pools/*", call: update((*client.Client).UpdatePool)},
	{pattern: "DELETE /pools/*", call: remove((*client.Client).DeletePool)},
	{pattern: "GET /pools/*/instances", call: get((*client.Client).ListPoolInstances)},
	{pattern: "GET /instances", call: list((*client.Client).ListInstances)},
	{pattern: "GET /instances/*", call: get((*client.Client).GetInstance)},
	{pattern: "DELETE /instances/*", call: remove(func(c *client.Client, ctx context.Context, name string) error {
		return c.DeleteInstance(ctx, name, false)
	})},

	{pattern: "POST /auth/login", decode: as[garm.Token]},
	{pattern: "GET /metrics-token", decode: as[garm.Token]},
	{pattern: "GET /credentials", decode: as[[]garm.Credentials]},
	{pattern: "GET /*/*/pools/*", decode: as[garm.Pool]},
	{pattern: "PUT /*/*/pools/*", decode: as[garm.Pool]},
	{pattern: "GET /*/*/instances", decode: as[[]garm.Instance]},
	{pattern: "GET /metadata/system/cert-bundle", decode: as[garm.CertificateBundle]},
}

// foreign are the paths of v0.2 and of runners whose answers the contract has no types for.
var foreign = regexp.MustCompile(`^/(gitea|templates|objects|tools|scalesets|scalesets/.*|[a-z]+/[^/]+/scalesets|metadata)(/|$)`)

// find returns the route of a request and the variable parts of its path.
func find(method, path string) (route, []string, bool) {
	for _, r := range routes {
		wantMethod, pattern, _ := strings.Cut(r.pattern, " ")
		if ids, ok := match(pattern, path); ok && wantMethod == method {
			return r, ids, true
		}
	}
	return route{}, nil, false
}

func match(pattern, path string) (ids []string, ok bool) {
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return nil, false
	}
	for i := range want {
		switch {
		case want[i] == "*" && have[i] != "":
			ids = append(ids, have[i])
		case want[i] != have[i]:
			return nil, false
		}
	}
	return ids, true
}
