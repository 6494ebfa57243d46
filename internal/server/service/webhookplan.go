package service

import (
	"net/url"
	"strings"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/weburl"
)

// placeFor finds the webhook that an installation changes in place, nil where it makes a new one. Anything that would
// tell this server of each job twice is in the way: a webhook to its own URL, one that names its controller id, one to
// its host.
func placeFor(c model.Controller, hooks []model.Webhook, replace string) (*model.Webhook, error) {
	own := c.OwnWebhookURL()
	var sameURL, sameController, named, sameHost *model.Webhook
	for i := range hooks {
		h := &hooks[i]
		switch {
		case h.URL == own:
			sameURL = h
		case namesController(c, h):
			sameController = h
		case replace != "" && h.URL == replace:
			named = h
		case hostOf(h.URL) == hostOf(own):
			sameHost = h
		}
	}
	if replace != "" {
		for _, h := range []*model.Webhook{sameURL, sameController, named} {
			if h != nil {
				return h, nil
			}
		}
	}
	switch {
	case sameURL != nil, sameController != nil:
		return nil, model.Conflict("hook already installed")
	case sameHost != nil:
		return nil, model.Conflict("hook already installed: %s is at the same host; remove it at the forge first", weburl.WithoutLogin(sameHost.URL))
	}
	return nil, nil
}

// ownWebhooks are those that belong to this server, those from before a change of its URL among them.
func ownWebhooks(c model.Controller, hooks []model.Webhook) []model.Webhook {
	var own []model.Webhook
	url := c.OwnWebhookURL()
	for _, h := range hooks {
		if (url != "" && h.URL == url) || namesController(c, &h) {
			own = append(own, h)
		}
	}
	return own
}

// isBare says whether a webhook goes to this server without naming it, as users install them by hand.
func isBare(c model.Controller, h model.Webhook) bool {
	return c.WebhookURL != "" && strings.TrimSuffix(h.URL, "/") == strings.TrimSuffix(c.WebhookURL, "/")
}

func namesController(c model.Controller, h *model.Webhook) bool {
	return c.ID != "" && strings.Contains(strings.ToLower(h.URL), strings.ToLower(string(c.ID)))
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
