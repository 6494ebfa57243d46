package controlplane

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const auditLine = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":"ResponseComplete","verb":"patch",` +
	`"user":{"username":"operator","groups":["system:authenticated"]},"userAgent":"garm-operator/v1",` +
	`"objectRef":{"resource":"pools","namespace":"ci","name":"small","apiGroup":"garm-operator.mercedes-benz.com","apiVersion":"v1beta1","subresource":"status"},` +
	`"responseStatus":{"metadata":{},"code":409},"requestReceivedTimestamp":"2026-01-02T03:04:05.678901Z"}`

func TestDecodeAudit(t *testing.T) {
	event := AuditEvent{
		Verb: "patch", User: "operator", UserAgent: "garm-operator/v1", Code: 409,
		Object: Object{Group: "garm-operator.mercedes-benz.com", Resource: "pools", Subresource: "status", Namespace: "ci", Name: "small"},
		Time:   time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC),
	}
	impersonated := event
	impersonated.User = "somebody"
	forbidden := event
	forbidden.Forbidden = true
	for name, test := range map[string]struct {
		log  string
		want []AuditEvent
		fail string
	}{
		"empty": {log: ""},
		"two":   {log: auditLine + "\n" + auditLine + "\n", want: []AuditEvent{event, event}},
		"impersonated": {
			log:  strings.Replace(auditLine, `"userAgent"`, `"impersonatedUser":{"username":"somebody"},"userAgent"`, 1) + "\n",
			want: []AuditEvent{impersonated},
		},
		"forbidden": {
			log:  strings.Replace(auditLine, `"userAgent"`, `"annotations":{"authorization.k8s.io/decision":"forbid"},"userAgent"`, 1) + "\n",
			want: []AuditEvent{forbidden},
		},
		"one half written": {log: auditLine + "\n" + auditLine[:100], want: []AuditEvent{event}},
		"damaged":          {log: auditLine + "\n{\n", fail: "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := new(auditTrail).follow(strings.NewReader(test.log))
			if test.fail != "" {
				if err == nil || !strings.Contains(err.Error(), test.fail) {
					t.Fatalf("got error %v, want one with %q", err, test.fail)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("events differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadsAreNoWrites(t *testing.T) {
	for verb, want := range map[string]bool{
		"get": false, "list": false, "watch": false,
		"create": true, "update": true, "patch": true, "delete": true, "deletecollection": true,
	} {
		if got := (AuditEvent{Verb: verb}).Write(); got != want {
			t.Errorf("%s: Write() = %v, want %v", verb, got, want)
		}
	}
}

// A log that grows between two readings, also in the middle of a line, is read as one that was whole.
func TestAuditLogGrows(t *testing.T) {
	log := strings.Repeat(auditLine+"\n", 3)
	var trail auditTrail
	for end := range len(log) + 1 {
		events, err := trail.follow(strings.NewReader(log[:end]))
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Count(log[:end], "\n"); len(events) != want {
			t.Fatalf("%d events of %d bytes, not %d", len(events), end, want)
		}
	}
}

func TestWithoutAuditNoEvents(t *testing.T) {
	if events, err := new(ControlPlane).AuditEvents(); err == nil {
		t.Errorf("no error, but %v", events)
	}
}
