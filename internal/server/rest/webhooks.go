package rest

import (
	"net/http"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/service"
)

func wireWebhook(h model.Webhook) garm.HookInfo {
	events := h.Events
	if events == nil {
		events = []string{}
	}
	return garm.HookInfo{ID: h.ID, URL: h.URL, Events: events, Active: h.Active, InsecureSSL: h.InsecureSSL}
}

func (h entityHandlers) getWebhook(w http.ResponseWriter, r *http.Request) {
	id, err := entityID(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	hook, err := h.Service.Webhook(r.Context(), h.kind, id)
	answer(h.Server, w, r, hook, err, wireWebhook)
}

func (h entityHandlers) installWebhook(w http.ResponseWriter, r *http.Request) {
	id, err := entityID(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	var p garm.InstallWebhookParams
	if err := decode(w, r, &p); err != nil {
		h.fail(w, r, err)
		return
	}
	hook, err := h.Service.InstallWebhook(r.Context(), h.kind, id, service.WebhookRequest{InsecureSSL: p.InsecureSSL, Replace: p.ReplaceURL})
	answer(h.Server, w, r, hook, err, wireWebhook)
}

func (h entityHandlers) uninstallWebhook(w http.ResponseWriter, r *http.Request) {
	id, err := entityID(r)
	if err == nil {
		err = h.Service.UninstallWebhook(r.Context(), h.kind, id)
	}
	h.answerDone(w, r, err)
}
