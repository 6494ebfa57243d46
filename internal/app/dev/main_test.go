package dev_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/garm-operator/garm-operator/internal/app/dev"
)

func TestMainDispatches(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		env  map[string]string
		code int
		want string
	}{
		"a provider by environment":    {nil, map[string]string{"GARM_COMMAND": "GetVersion"}, 0, "v0.1.0\n"},
		"the environment goes first":   {[]string{"runner", "run"}, map[string]string{"GARM_COMMAND": "GetVersion"}, 0, "v0.1.0\n"},
		"a provider without its file":  {nil, map[string]string{"GARM_COMMAND": "RemoveAllInstances", "GARM_CONTROLLER_ID": "c"}, 1, "config_file"},
		"help":                         {[]string{"--help"}, nil, 0, "github"},
		"an unknown subcommand":        {[]string{"dance"}, nil, 1, "dance"},
		"a runner without its token":   {[]string{"runner", "configure", "--url", "http://x/y", "--name", "n"}, nil, 1, "ACTIONS_RUNNER_INPUT_TOKEN"},
		"a runner without its address": {[]string{"runner", "configure", "--name", "n"}, nil, 1, "url"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			code := dev.Main(tc.args, func(name string) string { return tc.env[name] }, strings.NewReader(""), &out, &out)
			if code != tc.code || !strings.Contains(out.String(), tc.want) {
				t.Errorf("exit code %d, output:\n%s", code, out.String())
			}
		})
	}
}
