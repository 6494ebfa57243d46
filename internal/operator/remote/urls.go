package remote

import (
	"net/url"
	"strings"
)

// URLMissing says whether a URL of the controller is not set, or is one of the placeholders that earlier operators set.
func URLMissing(value string) bool {
	u, err := url.Parse(value)
	if err != nil || u.Hostname() == "" {
		return true
	}
	host := strings.ToLower(u.Hostname())
	return strings.HasPrefix(host, "initial.") && (strings.HasSuffix(host, ".garm.local") || strings.HasSuffix(host, ".garm.cloud"))
}
