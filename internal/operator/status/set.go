package status

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Set collects what one pass finds out. Nothing is written before the pass is over, so that no condition goes to and fro
// within it. The zero value is ready for use.
type Set struct {
	found   []metav1.Condition
	dropped map[string]bool
}

// True says that a condition holds.
func (s *Set) True(kind, reason, message string) { s.set(kind, metav1.ConditionTrue, reason, message) }

// False says that a condition does not hold.
func (s *Set) False(kind, reason, message string) {
	s.set(kind, metav1.ConditionFalse, reason, message)
}

// Drop removes a condition that has no meaning any more.
func (s *Set) Drop(kind string) {
	if s.dropped == nil {
		s.dropped = map[string]bool{}
	}
	s.dropped[kind] = true
}

// Is says whether this pass has found the condition to be True.
func (s *Set) Is(kind string) bool {
	for _, c := range s.found {
		if c.Type == kind {
			return c.Status == metav1.ConditionTrue
		}
	}
	return false
}

func (s *Set) set(kind string, status metav1.ConditionStatus, reason, message string) {
	delete(s.dropped, kind)
	c := metav1.Condition{Type: kind, Status: status, Reason: reason, Message: clip(message)}
	for i := range s.found {
		if s.found[i].Type == kind {
			s.found[i] = c
			return
		}
	}
	s.found = append(s.found, c)
}

// maxMessage is the longest message that the API server accepts.
const maxMessage = 32768

func clip(message string) string {
	if len(message) > maxMessage {
		return strings.ToValidUTF8(message[:maxMessage-3], "") + "..."
	}
	return message
}
