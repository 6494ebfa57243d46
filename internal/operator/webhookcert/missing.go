package webhookcert

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/garm-operator/garm-operator/internal/operator/access"
)

// MissingError says which rights the operator needs to keep the certificate of its webhooks and has not.
type MissingError struct {
	Rights []access.Right
}

// Error names the rights, the roles that have them, and the ways to do without.
func (e *MissingError) Error() string {
	var roles []string
	for _, r := range e.Rights {
		role := "the ClusterRole garm-operator-webhook-role with a ClusterRoleBinding"
		if r.Namespace != "" {
			role = "the Role garm-operator-certificates-role in the namespace " + r.Namespace
		}
		if !slices.Contains(roles, role) {
			roles = append(roles, role)
		}
	}
	return fmt.Sprintf("not allowed to %s: bind %s (config/rbac and the chart do), "+
		"or give the certificate in files (--operator-webhook-certificates=files; cert-manager can keep them), "+
		"or serve no webhooks (--operator-webhook-enabled=false) where the installed manifests call none",
		access.Describe(e.Rights), strings.Join(roles, ", and "))
}

// missing is what the operator was found to lack.
type missing struct {
	options Options

	mu sync.Mutex
	// reviewed is what the API server says when it is asked, tried is what it has refused.
	reviewed, tried []access.Right
	told            string
}

func newMissing(o Options) *missing { return &missing{options: o} }

// review takes what the API server says of rights, try what it has refused in one pass.
func (m *missing) review(rights []access.Right) { m.set(&m.reviewed, rights) }
func (m *missing) try(rights []access.Right)    { m.set(&m.tried, rights) }

// lastReview is what the API server has said when it was last asked.
func (m *missing) lastReview() []access.Right {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reviewed
}

// set tells of a change, once.
func (m *missing) set(part *[]access.Right, rights []access.Right) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*part = rights
	all, text := m.all(), ""
	if len(all) > 0 {
		text = access.Describe(all)
	}
	if text == m.told {
		return
	}
	m.told = text
	m.options.Missing(all)
	if len(all) > 0 {
		m.options.Log.Error(&MissingError{Rights: all}, "the API server may not trust the webhooks; everything else goes on, and so do they once the rights are there")
		return
	}
	m.options.Log.Info("the rights to keep the certificate of the webhooks are there")
}

func (m *missing) all() []access.Right {
	all := slices.Clone(m.reviewed)
	for _, r := range m.tried {
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return all
}

// error is nil or a *MissingError.
func (m *missing) error() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if all := m.all(); len(all) > 0 {
		return &MissingError{Rights: all}
	}
	return nil
}

// refused says whether an answer means that a right is missing.
func refused(err error) bool {
	return apierrors.IsForbidden(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
