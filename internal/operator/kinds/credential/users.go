package credential

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/weburl"
)

// guardRetry is how often a deletion that something holds up is looked at when nothing wakes it.
const guardRetry = time.Minute

// users are the names of the entities that use credentials.
type users struct{ repositories, organizations, enterprises []string }

// usersOf finds them in the view, so that no request for each of the credentials is needed.
func usersOf(v *remote.View, c *garm.Credentials) users {
	uses := func(e garm.Entity) bool {
		if e.CredentialsID != 0 {
			return e.CredentialsID == c.ID
		}
		return strings.EqualFold(e.CredentialsName, c.Name)
	}
	var u users
	repositories, _ := v.Repositories()
	for _, r := range repositories {
		if uses(r.Entity) {
			u.repositories = append(u.repositories, r.Name)
		}
	}
	organizations, _ := v.Organizations()
	for _, o := range organizations {
		if uses(o.Entity) {
			u.organizations = append(u.organizations, o.Name)
		}
	}
	enterprises, _ := v.Enterprises()
	for _, e := range enterprises {
		if uses(e.Entity) {
			u.enterprises = append(u.enterprises, e.Name)
		}
	}
	slices.Sort(u.repositories)
	slices.Sort(u.organizations)
	slices.Sort(u.enterprises)
	return u
}

func (u users) all() []string { return slices.Concat(u.repositories, u.organizations, u.enterprises) }

// Project shows who uses the credentials.
func (a *actuator) Project(c *garm.Credentials) {
	s := &a.pass.Object.Status
	u := usersOf(a.pass.View, c)
	s.ID, s.ControllerID = int64(c.ID), a.pass.ControllerID()
	s.APIBaseURL, s.UploadBaseURL, s.BaseURL = weburl.WithoutLogin(c.APIBaseURL), weburl.WithoutLogin(c.UploadBaseURL), weburl.WithoutLogin(c.BaseURL)
	s.Repositories, s.Organizations, s.Enterprises = u.repositories, u.organizations, u.enterprises
}

// Guard waits for the entities that use the credentials.
func (a *actuator) Guard(ctx context.Context) error {
	p := a.pass
	found, _ := p.View.CredentialsNamed(p.Object.Name)
	for i := range found {
		if all := usersOf(p.View, &found[i]).all(); len(all) > 0 {
			return mirror.Wait(v1beta1.ReasonInUse, fmt.Sprintf("%d entities at the GARM server use it: %s", len(all), some(all)), guardRetry)
		}
	}
	return nil
}

// Owner says whether an older resource has the same name, in another namespace.
func (a *actuator) Owner(ctx context.Context) error {
	p := a.pass
	same, err := byName.Referrers(ctx, p.Client, "", p.Object.Name)
	if err != nil {
		return err
	}
	if owner := refs.Oldest(same); owner != nil && owner.UID != p.Object.UID {
		return mirror.Stop(v1beta1.ReasonNotOwner, fmt.Sprintf("GitHubCredential %s/%s comes first and stands for the same credentials", owner.Namespace, owner.Name))
	}
	return nil
}

// some shortens a long list.
func some(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}
