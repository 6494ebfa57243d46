package webhookcert

import (
	"bytes"
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

// calls returns the calls in a ValidatingWebhookConfiguration or CustomResourceDefinition that lead to this operator: those to
// a Service of its namespace, and those to a URL.
func calls(obj client.Object, namespace string) []call {
	if injected(obj) {
		return nil
	}
	var found []call
	switch o := obj.(type) {
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		for i := range o.Webhooks {
			c := &o.Webhooks[i].ClientConfig
			if c.Service != nil {
				found = appendService(found, c.Service.Namespace, c.Service.Name, namespace, &c.CABundle)
			} else if c.URL != nil {
				found = appendURL(found, *c.URL, &c.CABundle)
			}
		}
	case *apiextensionsv1.CustomResourceDefinition:
		if o.Spec.Conversion == nil || o.Spec.Conversion.Webhook == nil || o.Spec.Conversion.Webhook.ClientConfig == nil {
			return nil
		}
		c := o.Spec.Conversion.Webhook.ClientConfig
		if c.Service != nil {
			found = appendService(found, c.Service.Namespace, c.Service.Name, namespace, &c.CABundle)
		} else if c.URL != nil {
			found = appendURL(found, *c.URL, &c.CABundle)
		}
	}
	return found
}

func appendService(found []call, namespace, name, own string, trusted *[]byte) []call {
	if namespace != own {
		return found
	}
	return append(found, call{host: name + "." + namespace + ".svc", trusted: trusted})
}

func appendURL(found []call, text string, trusted *[]byte) []call {
	u, err := url.Parse(text)
	if err != nil {
		return found
	}
	host := u.Hostname()
	if net.ParseIP(host) != nil {
		host = ""
	}
	return append(found, call{host: host, trusted: trusted})
}

// hosts returns the names that the certificate must have, in order. There is always one.
func hosts(all []call, namespace string) []string {
	var names []string
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
