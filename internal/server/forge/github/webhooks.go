package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v88/github"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Webhooks are the webhooks of one repository or organization. Their errors have the kinds of package model.
type Webhooks struct{ forge forge }

// Webhooks returns the webhooks of a repository or organization.
func (f *Forges) Webhooks(ctx context.Context, entity model.Entity) (Webhooks, error) {
	made, err := f.forge(ctx, entity)
	return Webhooks{made}, err
}

func (w Webhooks) path() string { return w.forge.scope + "/hooks" }

func (w Webhooks) one(id int64) string { return fmt.Sprintf("%s/%d", w.path(), id) }

// List returns all webhooks.
func (w Webhooks) List(ctx context.Context) ([]model.Webhook, error) {
	const op = "listing webhooks"
	var out []model.Webhook
	for page, n := 1, 0; page != 0 && n < maxPages; n++ {
		var list []*github.Hook
		res, err := w.forge.client.call(ctx, op, http.MethodGet, fmt.Sprintf("%s?per_page=%d&page=%d", w.path(), perPage, page), nil, &list)
		if err != nil {
			return nil, w.explain(err)
		}
		for _, h := range list {
			out = append(out, webhookOf(h))
		}
		page = res.NextPage
	}
	return out, nil
}

// Install makes a webhook for the events of jobs.
func (w Webhooks) Install(ctx context.Context, config model.WebhookConfig) (model.Webhook, error) {
	wanted := hookFor(config)
	wanted.Name = new("web")
	var made github.Hook
	if _, err := w.forge.client.call(ctx, "installing a webhook", http.MethodPost, w.path(), wanted, &made); err != nil {
		return model.Webhook{}, w.explain(err)
	}
	return webhookOf(&made), nil
}

// Change makes a webhook what Install would make.
func (w Webhooks) Change(ctx context.Context, id int64, config model.WebhookConfig) (model.Webhook, error) {
	var changed github.Hook
	if _, err := w.forge.client.call(ctx, "changing a webhook", http.MethodPatch, w.one(id), hookFor(config), &changed); err != nil {
		return model.Webhook{}, w.explain(err)
	}
	return webhookOf(&changed), nil
}

// Remove removes a webhook. One that does not exist is no error.
func (w Webhooks) Remove(ctx context.Context, id int64) error {
	_, err := w.forge.client.call(ctx, "removing a webhook", http.MethodDelete, w.one(id), nil, nil)
	var failed *fleet.ForgeError
	if errors.As(err, &failed) && failed.Kind == fleet.ForgeNotFound {
		return nil
	}
	return w.explain(err)
}

// Ping makes GitHub send a ping event to a webhook.
func (w Webhooks) Ping(ctx context.Context, id int64) error {
	_, err := w.forge.client.call(ctx, "trying a webhook", http.MethodPost, w.one(id)+"/pings", nil, nil)
	return w.explain(err)
}

func hookFor(c model.WebhookConfig) *github.Hook {
	insecure := "0"
	if c.InsecureSSL {
		insecure = "1"
	}
	return &github.Hook{
		Active: new(true), Events: []string{"workflow_job"},
		Config: &github.HookConfig{URL: &c.URL, ContentType: new("json"), Secret: &c.Secret, InsecureSSL: &insecure},
	}
}

func webhookOf(h *github.Hook) model.Webhook {
	return model.Webhook{
		ID: h.GetID(), URL: h.GetConfig().GetURL(), Events: h.Events, Active: h.GetActive(), InsecureSSL: h.GetConfig().GetInsecureSSL() == "1",
	}
}

// explain says what an administrator can do about a failed call. GitHub answers 404, too, where only the permission is
// missing.
func (w Webhooks) explain(err error) error {
	var failed *fleet.ForgeError
	if err == nil || !errors.As(err, &failed) {
		return err
	}
	said := reasonOf(failed)
	switch failed.Kind {
	case fleet.ForgeNotFound, fleet.ForgeUnauthorized:
		return model.Invalid("%s of %s: GitHub answers %s; the credentials %q need %s", failed.Op, w.forge.entity.FullName(), said, w.forge.entity.Credentials.Name, w.permission())
	case fleet.ForgeConflict:
		return model.Conflict("%s of %s: GitHub answers %s", failed.Op, w.forge.entity.FullName(), said)
	case fleet.ForgeInvalid, fleet.ForgeBusy:
		if strings.Contains(said, "already exists") {
			return model.Conflict("hook already installed: GitHub answers %s", said)
		}
		return model.Invalid("%s of %s: GitHub answers %s", failed.Op, w.forge.entity.FullName(), said)
	case fleet.ForgeRateLimited:
		return model.Upstream("%s of %s: the rate limit of GitHub is used up until %s", failed.Op, w.forge.entity.FullName(), failed.Until.UTC().Format(time.RFC3339))
	}
	return model.Upstream("%s of %s: GitHub answers %s", failed.Op, w.forge.entity.FullName(), said)
}

func (w Webhooks) permission() string {
	if w.forge.entity.Kind == model.KindOrganization {
		return `the scope admin:org_hook, or the organization permission "Webhooks" (read and write), and an owner of the organization behind them`
	}
	return `the scope admin:repo_hook, or the repository permission "Webhooks" (read and write), and an administrator of the repository behind them`
}

// reasonOf is what GitHub said, without the address that was asked.
func reasonOf(failed *fleet.ForgeError) string {
	var app *ghinstallation.HTTPError
	if errors.As(failed, &app) && app.Response != nil {
		return app.Response.Status + " to the App, which may not be installed"
	}
	var answer *github.ErrorResponse
	if !errors.As(failed, &answer) || answer.Response == nil {
		return "nothing that can be read"
	}
	said := fmt.Sprintf("%d %s", answer.Response.StatusCode, answer.Message)
	for _, e := range answer.Errors {
		if e.Message != "" {
			said += ": " + e.Message
		}
	}
	return said
}
