package webhookcert

import (
	"bytes"
	"cmp"
	"net"
	"net/url"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// call is one place where the API server is told how to call a webhook of ours.
type call struct {
	// host is the name that the certificate must have; empty for an address.
	host string
	// trusted points at the authorities that the call trusts.
	trusted *[]byte
}

// injector is the beginning of the annotations by which cert-manager is told to do what is done here.
const injector = "cert-manager.io/inject-"

// injected says whether cert-manager is told to write into an object what calls trust.
func injected(obj client.Object) bool {
	for key := range obj.GetAnnotations() {
		if strings.HasPrefix(key, injector) {
			return true
		}
	}
	return false
}

// place is where this operator can be called.
type place struct {
	// namespace is that of its Services, addresses are the host:port pairs of its URLs.
	namespace string
	addresses []string
}

// target is where one call leads, and what it trusts.
type target struct {
	namespace, service string
	url                *string
	trusted            *[]byte
}

// targets returns where a ValidatingWebhookConfiguration or CustomResourceDefinition calls.
func targets(obj client.Object) []target {
	var found []target
	switch o := obj.(type) {
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		for i := range o.Webhooks {
			c := &o.Webhooks[i].ClientConfig
			t := target{url: c.URL, trusted: &c.CABundle}
			if c.Service != nil {
				t.namespace, t.service = c.Service.Namespace, c.Service.Name
			}
			found = append(found, t)
		}
	case *apiextensionsv1.CustomResourceDefinition:
		if o.Spec.Conversion == nil || o.Spec.Conversion.Webhook == nil || o.Spec.Conversion.Webhook.ClientConfig == nil {
			return nil
		}
		c := o.Spec.Conversion.Webhook.ClientConfig
		t := target{url: c.URL, trusted: &c.CABundle}
		if c.Service != nil {
			t.namespace, t.service = c.Service.Namespace, c.Service.Name
		}
		found = append(found, t)
	}
	return found
}

// calls returns the calls in an object that lead to this operator, and the URLs of those that lead elsewhere. What another
// operator is called by is that one's to look after: two that told the API server whom to trust there would never end.
func calls(obj client.Object, p place) (ours []call, elsewhere []string) {
	if injected(obj) {
		return nil, nil
	}
	for _, t := range targets(obj) {
		switch {
		case t.service != "":
			if t.namespace == p.namespace {
				ours = append(ours, call{host: t.service + "." + t.namespace + ".svc", trusted: t.trusted})
			}
		case t.url != nil:
			if host, ok := p.takes(*t.url); ok {
				ours = append(ours, call{host: host, trusted: t.trusted})
			} else {
				elsewhere = append(elsewhere, *t.url)
			}
		}
	}
	return ours, elsewhere
}

// Address returns the host:port pair that an https URL leads to, as Options.Addresses has it.
func Address(u *url.URL) string {
	return net.JoinHostPort(strings.ToLower(u.Hostname()), cmp.Or(u.Port(), "443"))
}

// takes says whether a URL leads here, and by which name; by none where the URL has an address.
func (p place) takes(text string) (host string, ok bool) {
	u, err := url.Parse(text)
	if err != nil {
		return "", false
	}
	if !slices.Contains(p.addresses, Address(u)) {
		return "", false
	}
	host = strings.ToLower(u.Hostname())
	if net.ParseIP(host) != nil {
		return "", true
	}
	return host, true
}

// hosts returns the names that the certificate must have, in order. There is always one. Those that it has already stay: another
// replica may see calls that this one does not, and neither must take away what the other needs.
func hosts(all []call, namespace string, have []string) []string {
	names := slices.Clone(have)
	for _, c := range all {
		if c.host != "" {
			names = append(names, c.host)
		}
	}
	if len(names) == 0 {
		return []string{"garm-operator-webhook-service." + namespace + ".svc"}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// alreadyTrusted returns what a call trusts now.
func alreadyTrusted(all []call) []byte {
	for _, c := range all {
		if len(*c.trusted) > 0 {
			return *c.trusted
		}
	}
	return nil
}

// trust makes calls trust the authorities; false if they did already.
func trust(all []call, authorities []byte) (changed bool) {
	for _, c := range all {
		if !bytes.Equal(*c.trusted, authorities) {
			*c.trusted, changed = authorities, true
		}
	}
	return changed
}
