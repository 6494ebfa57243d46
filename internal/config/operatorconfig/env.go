package operatorconfig

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// serviceVariable matches what Kubernetes puts into each container for a Service named garm, garm-server or operator.
var serviceVariable = regexp.MustCompile(`_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$`)

// serviceURL is the value of such a variable that ends in _PORT: a Service named operator-webhook sets one of the name of a setting.
var serviceURL = regexp.MustCompile(`^(tcp|udp|sctp)://`)

// envValues picks the settings out of an environment and warns of names that look like settings but are none. An
// empty value counts as set.
func envValues(environ []string) (map[string]any, []string) {
	names := map[string]Option{}
	old := map[string]Option{}
	for _, o := range Options() {
		if o.Env != "" {
			names[o.Env] = o
		}
		for _, name := range o.OldEnvs {
			old[name] = o
		}
	}
	values := map[string]any{}
	var warnings []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "OPERATOR_") && !strings.HasPrefix(name, "GARM_") {
			continue
		}
		if strings.HasSuffix(name, "_PORT") && serviceURL.MatchString(value) {
			continue
		}
		if o, ok := names[name]; ok {
			values[o.Key] = value
			continue
		}
		if o, ok := old[name]; ok {
			warnings = append(warnings, fmt.Sprintf("the environment variable %s is an old name of %s", name, o.Env))
			if _, set := values[o.Key]; !set {
				values[o.Key] = value
			}
			continue
		}
		if !serviceVariable.MatchString(name) {
			warnings = append(warnings, fmt.Sprintf("the environment variable %s is unknown and is ignored", name))
		}
	}
	slices.Sort(warnings)
	return values, warnings
}
