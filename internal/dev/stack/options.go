package stack

import (
	"log/slog"
	"time"

	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
)

// Login of the GARM administrator that the operator makes.
const (
	User     = "admin"
	Password = "xK9-pQ2v_Lm7zR4w"
	Email    = "admin@example.com"
)

// Options say what a Stack is made of.
type Options struct {
	// Plane is the control plane. Required.
	Plane *controlplane.ControlPlane
	// Dir is a folder for the database and the machines, which the caller removes. Required.
	Dir string
	// Namespace is made, and is the one that the operator works in. Required.
	Namespace string
	// GitHub configures the simulator.
	GitHub githubsim.Options
	// PublicGitHub leads what the server sends to github.com, api.github.com and uploads.github.com to the simulator,
	// over TLS with a certificate that the server trusts.
	PublicGitHub bool
	// Dialect is how the server seems to speak; nil leaves it as it is.
	Dialect garmproxy.Dialect
	// Provider is the program of the provider "local"; empty for one that cannot make machines. ProviderConfig is the
	// path of its configuration.
	Provider       string
	ProviderConfig string
	// OtherProviders are names of further providers that cannot make machines.
	OtherProviders []string
	// TokenLife is how long the server's tokens last, less than an operator of a server may set. Default: 24 hours.
	TokenLife time.Duration
	// Log gets what the server and the operator log. Default: nothing.
	Log *slog.Logger
}
