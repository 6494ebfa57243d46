package service

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// tokenRetryWindow is how long after its first delivery a registration token is given out again, so that a lost answer
// does not cost the runner.
const tokenRetryWindow = 2 * time.Minute

// RegistrationToken returns the token by which the runner of an instance registers. It is given once for each create
// attempt, and again within tokenRetryWindow; it is marked only after the forge has given it.
func (s *Service) RegistrationToken(ctx context.Context, i model.Instance) (string, error) {
	if i.JIT {
		return "", model.Unauthorized("the runner has a just-in-time configuration")
	}
	if !mayFetch(i, s.Now()) {
		return "", model.Unauthorized("the registration token has been fetched")
	}
	entity, err := s.Store.Entity(ctx, i.EntityID)
	if err != nil {
		return "", err
	}
	token, _, err := s.Forges.RegistrationToken(ctx, entity)
	if err != nil {
		return "", fmt.Errorf("fetching a registration token: %w", err)
	}
	_, err = s.Store.UpdateInstance(ctx, i.ID, func(row *model.Instance) error {
		if row.CreateAttempt != i.CreateAttempt || !mayFetch(*row, s.Now()) {
			return model.Unauthorized("the registration token has been fetched")
		}
		if !row.TokenFetched {
			row.TokenFetched, row.TokenFetchedAt = true, s.Now().UTC()
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	err = s.Store.AddInstanceMessage(ctx, i.ID, model.InstanceMessage{Kind: "fetchToken", Level: model.LevelInfo, Message: "runner registration token was retrieved"})
	return token, err
}

func mayFetch(i model.Instance, now time.Time) bool {
	return !i.TokenFetched || now.Sub(i.TokenFetchedAt) < tokenRetryWindow
}

// CredentialsFile returns one file of the just-in-time configuration of an instance; name is without the leading dot.
func (s *Service) CredentialsFile(ctx context.Context, i model.Instance, name string) ([]byte, error) {
	if !i.JIT {
		return nil, model.NotFound("the runner has no just-in-time configuration")
	}
	config, err := s.Store.JITConfig(ctx, i.ID)
	if err != nil {
		return nil, err
	}
	content, ok := config["."+name]
	if !ok {
		return nil, model.NotFound("could not find file %q", "."+name)
	}
	return content, nil
}

// ServiceName is the name of the system service that runs the runner of an instance.
func (s *Service) ServiceName(ctx context.Context, i model.Instance) (string, error) {
	entity, err := s.Store.Entity(ctx, i.EntityID)
	if err != nil {
		return "", err
	}
	if entity.Kind == model.KindRepository {
		return "actions.runner." + entity.Owner + "." + entity.Name, nil
	}
	return "actions.runner." + entity.Name, nil
}

// UnitFile is the systemd unit of the runner of an instance, for a user; "runner" by default.
func (s *Service) UnitFile(ctx context.Context, i model.Instance, user string) (string, error) {
	if user == "" {
		user = "runner"
	}
	if strings.ContainsAny(user, "/\n\r \t") {
		return "", model.Invalid("invalid runAsUser: the name of a user is needed")
	}
	service, err := s.ServiceName(ctx, i)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(unitFile, service, user, user, user), nil
}

const unitFile = `[Unit]
Description=GitHub Actions Runner (%s)
After=network.target

[Service]
ExecStart=/home/%s/actions-runner/runsvc.sh
User=%s
WorkingDirectory=/home/%s/actions-runner
KillMode=process
KillSignal=SIGTERM
TimeoutStopSec=5min

[Install]
WantedBy=multi-user.target
`

// CertificateBundle returns the certificates that the runner of an instance has to trust, as PEM by serial number.
func (s *Service) CertificateBundle(ctx context.Context, i model.Instance) (map[string][]byte, error) {
	entity, err := s.Store.Entity(ctx, i.EntityID)
	if err != nil {
		return nil, err
	}
	controller, err := s.Store.Controller(ctx)
	if err != nil {
		return nil, err
	}
	bundle := map[string][]byte{}
	for _, data := range [][]byte{entity.Endpoint().CACertBundle, controller.CACertBundle} {
		for {
			var block *pem.Block
			if block, data = pem.Decode(data); block == nil {
				break
			}
			if certificate, err := x509.ParseCertificate(block.Bytes); err == nil {
				bundle[certificate.SerialNumber.String()] = pem.EncodeToMemory(block)
			}
		}
	}
	return bundle, nil
}
