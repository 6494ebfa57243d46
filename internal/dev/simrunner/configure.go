package simrunner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim/runnerapi"
)

// Configuration is how a runner registers by token.
type Configuration struct {
	// Dir is the folder that gets the runner's files.
	Dir string
	// URL is the address of the repository, organization or enterprise.
	URL string
	// Token is the registration token, a secret.
	Token           string
	Name            string
	Group           string
	Labels          []string
	NoDefaultLabels bool
	Ephemeral       bool
}

// Configure registers the runner and writes its files, as config.sh of the real runner does.
func Configure(ctx context.Context, c Configuration, out io.Writer) error {
	if _, err := readIdentity(c.Dir); err == nil {
		return errors.New("cannot configure the runner because it is already configured")
	}
	base, err := url.Parse(c.URL)
	if err != nil || base.Host == "" {
		return fmt.Errorf("url is %q: give the address of a repository, organization or enterprise", c.URL)
	}
	client := newClient(base.Scheme+"://"+base.Host, "")
	var files runnerapi.Files
	err = client.post(ctx, runnerapi.RegisterPath, runnerapi.Registration{
		URL: c.URL, Token: c.Token, Name: c.Name, Group: c.Group, Labels: c.Labels,
		NoDefaultLabels: c.NoDefaultLabels, Ephemeral: c.Ephemeral,
	}, &files)
	var refused *statusError
	switch {
	case errors.As(err, &refused) && refused.status == http.StatusNotFound:
		return errors.New("registering the runner: the token is not valid for this address, or has expired")
	case err != nil:
		return fmt.Errorf("registering the runner: %w", err)
	}
	if err := writeFiles(c.Dir, files); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(out, "√ Runner successfully added")
	return nil
}
