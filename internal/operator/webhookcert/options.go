package webhookcert

import (
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"

	"github.com/garm-operator/garm-operator/internal/operator/access"
)

// Options say what the certificate is for, and how long things live.
type Options struct {
	// Secret keeps the authority and the certificate. It is made when it is missing. Required.
	Secret types.NamespacedName
	// Configuration names the ValidatingWebhookConfiguration that is told what to trust. Required; it need not exist.
	Configuration string
	// Definitions name the custom resource definitions whose conversion is told what to trust. They need not exist.
	Definitions []string
	// AuthorityLife and ServerLife are how long an authority and a certificate are valid. Default: 10 years and 1 year.
	AuthorityLife, ServerLife time.Duration
	// RenewBefore is how long before its end either is replaced, at most half of its life. Default: 90 days.
	RenewBefore time.Duration
	// Settle is how long API servers are given to learn of a new authority before a certificate of it is shown. Default: 10
	// seconds.
	Settle time.Duration
	// Overlap is for how long the authority before a new one stays trusted, far longer than any replica takes to show a
	// certificate of the new one. Default: 1 day.
	Overlap time.Duration
	// Addresses are the host:port pairs at which the API server may call this operator by URL, in lower case, such as
	// localhost:9443. Calls by other URLs lead to others, and are left alone. Those to Services of the Secret's namespace need
	// none.
	Addresses []string
	// Again is how often it is looked whether rights that were missing have been given. Default: 30 seconds.
	Again time.Duration
	// Missing is told which rights are missing whenever that changes. Optional.
	Missing func([]access.Right)
	// Log gets one line for each thing that changes.
	Log logr.Logger
}

const day = 24 * time.Hour

func (o Options) withDefaults() Options {
	o.AuthorityLife = orDefault(o.AuthorityLife, 3650*day)
	o.ServerLife = orDefault(o.ServerLife, 365*day)
	o.RenewBefore = min(orDefault(o.RenewBefore, 90*day), o.ServerLife/2, o.AuthorityLife/2)
	o.Settle = orDefault(o.Settle, 10*time.Second)
	o.Overlap = max(orDefault(o.Overlap, day), 2*o.Settle)
	o.Again = orDefault(o.Again, 30*time.Second)
	if o.Missing == nil {
		o.Missing = func([]access.Right) {}
	}
	return o
}

func orDefault(d, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return d
}
