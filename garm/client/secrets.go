package client

import (
	"encoding/base64"

	"github.com/garm-operator/garm-operator/garm"
)

// secretsOf returns the secrets in the body of a request, which a server might repeat when it refuses it.
func secretsOf(body any) []string {
	switch b := body.(type) {
	case garm.LoginParams:
		return []string{b.Password}
	case garm.NewUserParams:
		return []string{b.Password}
	case garm.CreateEntityParams:
		return []string{b.WebhookSecret}
	case garm.UpdateEntityParams:
		return []string{b.WebhookSecret}
	case garm.CreateCredentialsParams:
		return secretsOfAuth(b.PAT, b.App)
	case garm.UpdateCredentialsParams:
		return secretsOfAuth(b.PAT, b.App)
	}
	return nil
}

func secretsOfAuth(pat *garm.PAT, app *garm.App) []string {
	var secrets []string
	if pat != nil {
		secrets = append(secrets, pat.OAuth2Token)
	}
	if app != nil {
		secrets = append(secrets, string(app.PrivateKey), base64.StdEncoding.EncodeToString(app.PrivateKey))
	}
	return secrets
}
