package sqlstore

import (
	"context"
	"errors"
	"reflect"

	"github.com/google/uuid"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// agentReleases is where the releases of the runner agent are listed, unless an administrator says otherwise.
const agentReleases = "https://api.github.com/repos/cloudbase/garm-agent/releases"

var controllers = table[model.Controller]{
	name: "controller", key: "id", order: "controller.id",
	own: func(c *model.Controller) []field {
		return []field{
			{"id", &c.ID},
			{"metadata_url", &c.MetadataURL},
			{"callback_url", &c.CallbackURL},
			{"webhook_url", &c.WebhookURL},
			{"agent_url", &c.AgentURL},
			{"agent_releases_url", &c.AgentReleasesURL},
			{"enable_agent_tools_sync", &c.EnableAgentToolsSync},
			{"ca_cert_bundle", &c.CACertBundle},
			{"job_backoff", &c.JobBackoff},
			{"created_at", nanos{&c.CreatedAt}},
			{"updated_at", nanos{&c.UpdatedAt}},
		}
	},
}

// passphrasePurpose seals the id of the controller, by which another passphrase is noticed at once.
const passphrasePurpose = "passphrase check"

// initialize fills a new database: a controller, and the endpoint of github.com, which would be missed. Of an existing
// one it checks the passphrase.
func (s *Store) initialize(ctx context.Context) error {
	return s.write(ctx, "filling the database", func(t *tx) error {
		rows, err := controllers.list(ctx, t, "")
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			return s.checkPassphrase(ctx, t, rows[0].ID)
		}
		now := s.now().UTC()
		c := model.Controller{
			ID: model.ControllerID(uuid.NewString()), AgentReleasesURL: agentReleases, JobBackoff: model.DefaultJobBackoff,
			CreatedAt: now, UpdatedAt: now,
		}
		check, err := s.seal.seal(passphrasePurpose, []byte(c.ID))
		if err != nil {
			return err
		}
		if _, err := controllers.insert(ctx, t, &c, field{"passphrase_check", check}); err != nil {
			return err
		}
		e := model.Endpoint{
			Name: "github.com", Type: model.ForgeGitHub, Description: "The github.com endpoint", APIBaseURL: "https://api.github.com/",
			UploadBaseURL: "https://uploads.github.com/", BaseURL: "https://github.com", CreatedAt: now, UpdatedAt: now,
		}
		_, err = endpoints.insert(ctx, t, &e)
		t.written = true
		return err
	})
}

func (s *Store) checkPassphrase(ctx context.Context, t *tx, id model.ControllerID) error {
	var check []byte
	if err := t.QueryRowContext(ctx, "SELECT passphrase_check FROM controller WHERE id = ?", id).Scan(&check); err != nil {
		return err
	}
	if _, err := s.seal.open(passphrasePurpose, check); err != nil {
		return errors.New("database.passphrase is not the one that the database was made with")
	}
	return nil
}

// Controller returns the row about the server itself.
func (s *Store) Controller(ctx context.Context) (model.Controller, error) {
	return controllers.one(ctx, s.reader, model.NotFound("the controller row is missing"), "")
}

// UpdateController changes the row by update. Where update changes nothing, nothing is written.
func (s *Store) UpdateController(ctx context.Context, update func(*model.Controller) error) (model.Controller, error) {
	var c model.Controller
	err := s.write(ctx, "updating the controller", func(t *tx) (err error) {
		if c, err = controllers.one(ctx, t, model.NotFound("the controller row is missing"), ""); err != nil {
			return err
		}
		before := c
		if err := update(&c); err != nil || reflect.DeepEqual(before, c) {
			return err
		}
		c.UpdatedAt = s.now().UTC()
		if err := controllers.update(ctx, t, c.ID, &c); err != nil {
			return err
		}
		t.changed(model.OpUpdate, c)
		return nil
	})
	return c, err
}
