package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v88/github"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

const (
	perPage = 100
	// maxPages bounds a list, should a forge never come to an end.
	maxPages = 1000
)

// forge is one entity.
type forge struct {
	client *client
	entity model.Entity
	// scope is the path of the entity below the API's root, such as "orgs/acme".
	scope string
}

var _ fleet.Forge = forge{}

func newForge(c *client, e model.Entity) forge {
	f := forge{client: c, entity: e}
	switch e.Kind {
	case model.KindRepository:
		f.scope = "repos/" + url.PathEscape(e.Owner) + "/" + url.PathEscape(e.Name)
	case model.KindOrganization:
		f.scope = "orgs/" + url.PathEscape(e.Name)
	default:
		f.scope = "enterprises/" + url.PathEscape(e.Name)
	}
	return f
}

// URL implements fleet.Forge.
func (f forge) URL() string {
	base := strings.TrimSuffix(f.entity.Endpoint().BaseURL, "/")
	if f.entity.Kind == model.KindEnterprise {
		return base + "/enterprises/" + f.entity.Name
	}
	return base + "/" + f.entity.FullName()
}

func (f forge) runners() string { return f.scope + "/actions/runners" }

func (f forge) runner(id int64) string { return fmt.Sprintf("%s/%d", f.runners(), id) }

// Tools implements fleet.Forge.
func (f forge) Tools(ctx context.Context) ([]fleet.Tool, error) {
	var list []github.RunnerApplicationDownload
	if _, err := f.client.call(ctx, "listing runner downloads", http.MethodGet, f.runners()+"/downloads", nil, &list); err != nil {
		return nil, err
	}
	out := make([]fleet.Tool, len(list))
	for i := range list {
		d := &list[i]
		out[i] = fleet.Tool{
			OS: d.GetOS(), Architecture: d.GetArchitecture(), DownloadURL: d.GetDownloadURL(), Filename: d.GetFilename(),
			SHA256: d.GetSHA256Checksum(), TempToken: d.GetTempDownloadToken(),
		}
	}
	return out, nil
}

// Runners implements fleet.Forge.
func (f forge) Runners(ctx context.Context) ([]fleet.Runner, error) {
	const op = "listing runners"
	var out []fleet.Runner
	for page, n := 1, 0; page != 0; n++ {
		if n == maxPages {
			return nil, failed(op, errors.New("the list has no end"))
		}
		var list github.Runners
		path := fmt.Sprintf("%s?per_page=%d&page=%d", f.runners(), perPage, page)
		res, err := f.client.call(ctx, op, http.MethodGet, path, nil, &list)
		if err != nil {
			return nil, err
		}
		for _, r := range list.Runners {
			out = append(out, runnerOf(r))
		}
		page = res.NextPage
	}
	return out, nil
}

// Runner implements fleet.Forge.
func (f forge) Runner(ctx context.Context, id int64) (fleet.Runner, error) {
	var r github.Runner
	if _, err := f.client.call(ctx, "reading a runner", http.MethodGet, f.runner(id), nil, &r); err != nil {
		return fleet.Runner{}, err
	}
	return runnerOf(&r), nil
}

// RemoveRunner implements fleet.Forge.
func (f forge) RemoveRunner(ctx context.Context, id int64) error {
	_, err := f.client.call(ctx, "removing a runner", http.MethodDelete, f.runner(id), nil, nil)
	var failed *fleet.ForgeError
	if !errors.As(err, &failed) {
		return err
	}
	var answer *github.ErrorResponse
	switch {
	case failed.Kind == fleet.ForgeNotFound:
		return nil
	case errors.As(err, &answer) && answer.Response != nil && answer.Response.StatusCode == http.StatusUnprocessableEntity:
		failed.Kind = fleet.ForgeBusy
	}
	return failed
}

// RegistrationToken implements fleet.Forge.
func (f forge) RegistrationToken(ctx context.Context) (string, time.Time, error) {
	const op = "making a registration token"
	var token github.RegistrationToken
	if _, err := f.client.call(ctx, op, http.MethodPost, f.runners()+"/registration-token", nil, &token); err != nil {
		return "", time.Time{}, err
	}
	if token.GetToken() == "" {
		return "", time.Time{}, failed(op, errors.New("the answer holds no token"))
	}
	return token.GetToken(), token.GetExpiresAt().Time, nil
}

func runnerOf(r *github.Runner) fleet.Runner {
	out := fleet.Runner{ID: r.GetID(), Name: r.GetName(), Online: r.GetStatus() == "online", Busy: r.GetBusy()}
	for _, l := range r.Labels {
		out.Labels = append(out.Labels, l.GetName())
	}
	return out
}
