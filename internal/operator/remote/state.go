package remote

import (
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

// Phase says how far a session got with its server.
type Phase string

// Phases. Objects can be read and written in PhaseReady only; the controller's URLs can be set from
// PhaseURLsRequired on.
const (
	// PhaseConnecting: no answer yet since the start.
	PhaseConnecting Phase = "Connecting"
	// PhaseDown: the last attempt failed; Reason and Message tell why. The session keeps trying.
	PhaseDown Phase = "Down"
	// PhaseURLsRequired: connected and logged in, but the server refuses everything until its URLs are set.
	PhaseURLsRequired Phase = "URLsRequired"
	// PhaseReady: connected and logged in.
	PhaseReady Phase = "Ready"
)

// Reasons of PhaseDown, fit for a condition.
const (
	// ReasonUnreachable: no answer, or none in time.
	ReasonUnreachable = "Unreachable"
	// ReasonUnauthorized: the server refuses the configured user or password.
	ReasonUnauthorized = "Unauthorized"
	// ReasonNotInitialized: the server has no administrator, and making one is not allowed.
	ReasonNotInitialized = "NotInitialized"
	// ReasonUnsupportedVersion: the server is older than MinimumVersion.
	ReasonUnsupportedVersion = "UnsupportedVersion"
	// ReasonServerError: the server answers with 5xx or with something that is not GARM's.
	ReasonServerError = "ServerError"
)

// State is what a session knows of its server's availability.
type State struct {
	Phase Phase
	// Reason and Message say why Phase is not PhaseReady.
	Reason  string
	Message string
	// Err is the last failure in PhaseDown.
	Err error
	// Identity is the last known one; its ControllerID is empty until the server answered once.
	Identity Identity
	// Controller is what the server last said of itself: version, URLs, controller id.
	Controller garm.ControllerInfo
	// Events says whether the event stream is open; without it the session polls.
	Events bool
	// Since is when Phase was entered.
	Since time.Time
}

// Ready says whether objects can be read and written.
func (s State) Ready() bool { return s.Phase == PhaseReady }

// Connected says whether the server answers and has accepted the login.
func (s State) Connected() bool { return s.Phase == PhaseReady || s.Phase == PhaseURLsRequired }
