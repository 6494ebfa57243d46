package service

import (
	"testing"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// A server without a webhook URL has no webhooks but those that name it: one that has no URL is somebody else's.
func TestOwnWebhooksWithoutURL(t *testing.T) {
	hooks := []model.Webhook{{ID: 1}, {ID: 2, URL: "https://old.example.com/webhooks/4B9E"}, {ID: 3, URL: "https://ci.example.com"}}
	if own := ownWebhooks(model.Controller{ID: "4b9e"}, hooks); len(own) != 1 || own[0].ID != 2 {
		t.Errorf("own webhooks are %+v", own)
	}
}
