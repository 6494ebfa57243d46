package githubsim

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Scope is what runners and hooks belong to, written as in the REST API: "repos/owner/name", "orgs/login" or
// "enterprises/slug".
type Scope string

// The kinds of scope, as the first part of a Scope says them.
const (
	repos       = "repos"
	orgs        = "orgs"
	enterprises = "enterprises"
)

// RepositoryScope is the scope of a repository.
func RepositoryScope(owner, name string) Scope { return Scope(repos + "/" + owner + "/" + name) }

// OrganizationScope is the scope of an organization.
func OrganizationScope(login string) Scope { return Scope(orgs + "/" + login) }

// EnterpriseScope is the scope of an enterprise.
func EnterpriseScope(slug string) Scope { return Scope(enterprises + "/" + slug) }

// ParseScope reads a scope.
func ParseScope(text string) (Scope, error) {
	parts := strings.Split(text, "/")
	for _, part := range parts {
		if part == "" {
			return "", fmt.Errorf("scope %q has an empty part", text)
		}
	}
	switch {
	case parts[0] == repos && len(parts) == 3, (parts[0] == orgs || parts[0] == enterprises) && len(parts) == 2:
		return Scope(text), nil
	}
	return "", fmt.Errorf(`scope %q is none of "repos/owner/name", "orgs/login", "enterprises/slug"`, text)
}

// key makes scopes comparable: GitHub's names do not differ by letter case.
func (s Scope) key() Scope { return Scope(strings.ToLower(string(s))) }

func (s Scope) kind() string { return strings.SplitN(string(s), "/", 2)[0] }

func (s Scope) name() string { return string(s)[strings.LastIndex(string(s), "/")+1:] }

// targetType is what GitHub calls the scope in the headers of a webhook.
func (s Scope) targetType() string {
	switch s.kind() {
	case repos:
		return "repository"
	case orgs:
		return "organization"
	}
	return "business"
}

// webPath is the path of the scope's page, to which a runner registers.
func (s Scope) webPath() string {
	if s.kind() == enterprises {
		return "/" + string(s)
	}
	_, rest, _ := strings.Cut(string(s), "/")
	return "/" + rest
}

// scopeOfWebURL is the inverse of webPath, for a whole URL.
func scopeOfWebURL(address string) (Scope, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("%q is not the address of a repository, organization or enterprise", address)
	}
	path := strings.Trim(u.Path, "/")
	switch parts := strings.Split(path, "/"); {
	case len(parts) == 2 && parts[0] == enterprises:
		return ParseScope(path)
	case len(parts) == 2:
		return ParseScope(repos + "/" + path)
	case len(parts) == 1:
		return ParseScope(orgs + "/" + path)
	}
	return "", fmt.Errorf("%q is not the address of a repository, organization or enterprise", address)
}

// scopeOf is the scope that the path of a request names.
func scopeOf(r *http.Request) Scope {
	switch {
	case r.PathValue("repo") != "":
		return RepositoryScope(r.PathValue("owner"), r.PathValue("repo"))
	case r.PathValue("org") != "":
		return OrganizationScope(r.PathValue("org"))
	}
	return EnterpriseScope(r.PathValue("enterprise"))
}

// misfortune is the answer that the name of a scope stands for.
func (s Scope) misfortune() *apiError {
	for _, m := range []struct {
		word    string
		status  int
		message string
	}{
		{"unauthorized", http.StatusUnauthorized, badCredentials},
		{"forbidden", http.StatusForbidden, "Resource not accessible by personal access token"},
		{"absent", http.StatusNotFound, "Not Found"},
	} {
		if strings.Contains(string(s.key()), m.word) {
			return &apiError{status: m.status, Message: m.message}
		}
	}
	return nil
}
