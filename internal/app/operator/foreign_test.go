package operator

import (
	"strings"
	"testing"
)

// The embedded server refuses what belongs to another controller, and names one of it and the ways out.
func TestForeign(t *testing.T) {
	for name, c := range map[string]struct {
		all  []belonging
		want []string
	}{
		"nothing":  {},
		"own":      {all: []belonging{{"Pool ci/small", "own"}, {"Organization ci/octo", "own"}}},
		"another":  {all: []belonging{{"Pool ci/small", "other"}, {"Organization ci/octo", "own"}}, want: []string{"Pool ci/small belongs to GARM controller other", "others: 1", "--garm-server", "--embedded-server-take-over"}},
		"the name": {all: []belonging{{"Pool ci/z", "other"}, {"Pool ci/a", "third"}}, want: []string{"Pool ci/a belongs to GARM controller third", "others: 2"}},
		"no controller kept": {
			all:  []belonging{{"Pool ci/small", ""}},
			want: []string{"Pool ci/small belongs to a GARM server of an earlier operator"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := foreign(c.all, "own")
			if len(c.want) == 0 && err != nil {
				t.Error(err)
			}
			for _, text := range c.want {
				if err == nil || !strings.Contains(err.Error(), text) {
					t.Errorf("error %v, want one with %q", err, text)
				}
			}
		})
	}
}
