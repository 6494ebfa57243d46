package remotetest

import (
	"context"

	"github.com/garm-operator/garm-operator/garm"
)

// The management of webhooks is off at this server.

// GetRepositoryWebhook implements remote.Client.
func (s *Server) GetRepositoryWebhook(context.Context, string) (garm.HookInfo, error) {
	return garm.HookInfo{}, noRoute("GetRepositoryWebhook")
}

// InstallRepositoryWebhook implements remote.Client.
func (s *Server) InstallRepositoryWebhook(context.Context, string, garm.InstallWebhookParams) (garm.HookInfo, error) {
	return garm.HookInfo{}, noRoute("InstallRepositoryWebhook")
}

// UninstallRepositoryWebhook implements remote.Client.
func (s *Server) UninstallRepositoryWebhook(context.Context, string) error {
	return noRoute("UninstallRepositoryWebhook")
}

// GetOrganizationWebhook implements remote.Client.
func (s *Server) GetOrganizationWebhook(context.Context, string) (garm.HookInfo, error) {
	return garm.HookInfo{}, noRoute("GetOrganizationWebhook")
}

// InstallOrganizationWebhook implements remote.Client.
func (s *Server) InstallOrganizationWebhook(context.Context, string, garm.InstallWebhookParams) (garm.HookInfo, error) {
	return garm.HookInfo{}, noRoute("InstallOrganizationWebhook")
}

// UninstallOrganizationWebhook implements remote.Client.
func (s *Server) UninstallOrganizationWebhook(context.Context, string) error {
	return noRoute("UninstallOrganizationWebhook")
}

func noRoute(op string) error {
	return &garm.Error{Kind: garm.KindNoRoute, Op: op, Status: 404, Title: "Not found"}
}
