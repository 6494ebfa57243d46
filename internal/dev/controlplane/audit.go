package controlplane

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// auditPolicy records who did what to which object, never its content: every request to the project's own group, and the
// writes to everything else. fullAuditPolicy records the reads of everything else, too.
const (
	auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  resources:
  - group: garm-operator.mercedes-benz.com
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`
	fullAuditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  nonResourceURLs: ["*"]
- level: Metadata
`
)

// AuditEvent is one finished request to the API server.
type AuditEvent struct {
	Verb      string    // as RBAC names it: get, list, watch, create, update, patch, delete or deletecollection
	User      string    // whose rights counted: the one that is impersonated, else who asked; "admin" for ControlPlane.Config
	UserAgent string    // as the client sent it
	Object    Object    // what was asked for
	Code      int       // HTTP status of the answer
	Forbidden bool      // whether the user has no right to it; admission, which also answers 403, does not count
	Time      time.Time // when the request came in
}

// Object names what a request was about. Group is empty for the core group; Name is empty for lists, and for a create with a
// generated name.
type Object struct {
	Group, Resource, Subresource, Namespace, Name string
}

// Write tells whether the request asked for a change, whatever became of it.
func (e AuditEvent) Write() bool {
	switch e.Verb {
	case "get", "list", "watch":
		return false
	}
	return true
}

func enableAudit(arguments *envtest.Arguments, dir string, reads bool) (log string, err error) {
	text := auditPolicy
	if reads {
		text = fullAuditPolicy
	}
	policy := filepath.Join(dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write the audit policy: %w", err)
	}
	log = filepath.Join(dir, "audit.log")
	arguments.Set("audit-policy-file", policy).Set("audit-log-path", log)
	return log, nil
}

// auditTrail is what has been read of an audit log. The log only grows, so each event is decoded once.
type auditTrail struct {
	mutex  sync.Mutex
	read   int64 // bytes
	events []AuditEvent
}

// AuditEvents returns the requests of the project's group and the writes to all others, with Options.AuditReads the reads of
// these as well, that have been answered so far, in the order of their end; watches appear when they end. An event is written
// right after the answer, so a caller that waits for one has to ask again; what was returned before costs nothing again and must
// not be changed. It is an error when Options.Audit is off.
func (p *ControlPlane) AuditEvents() ([]AuditEvent, error) {
	if p.AuditLog == "" {
		return nil, errors.New("the control plane was started without Options.Audit")
	}
	file, err := os.Open(p.AuditLog)
	if err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	defer file.Close()
	return p.audit.follow(file)
}

// follow reads what is new and returns all events.
func (a *auditTrail) follow(log io.ReadSeeker) ([]AuditEvent, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if _, err := log.Seek(a.read, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return slices.Clip(a.events), nil // a last line without its end is still being written
		}
		if err != nil {
			return nil, fmt.Errorf("read the audit log: %w", err)
		}
		event, err := decodeAuditEvent(line)
		if err != nil {
			return nil, fmt.Errorf("line %d of the audit log: %w", len(a.events)+1, err)
		}
		a.events, a.read = append(a.events, event), a.read+int64(len(line))
	}
}

// decodeAuditEvent reads the JSON object of one line.
func decodeAuditEvent(line []byte) (AuditEvent, error) {
	var entry struct {
		Verb             string
		UserAgent        string
		User             struct{ Username string }
		ImpersonatedUser struct{ Username string }
		ObjectRef        struct {
			APIGroup, Resource, Subresource, Namespace, Name string
		}
		ResponseStatus           struct{ Code int }
		Annotations              map[string]string
		RequestReceivedTimestamp time.Time
	}
	if err := json.Unmarshal(line, &entry); err != nil {
		return AuditEvent{}, err
	}
	ref := entry.ObjectRef
	return AuditEvent{
		Verb:      entry.Verb,
		User:      cmp.Or(entry.ImpersonatedUser.Username, entry.User.Username),
		UserAgent: entry.UserAgent,
		Object:    Object{Group: ref.APIGroup, Resource: ref.Resource, Subresource: ref.Subresource, Namespace: ref.Namespace, Name: ref.Name},
		Code:      entry.ResponseStatus.Code,
		Forbidden: entry.Annotations["authorization.k8s.io/decision"] == "forbid",
		Time:      entry.RequestReceivedTimestamp,
	}, nil
}
