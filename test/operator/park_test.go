package operator_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/garm/provider"
)

// parkProgram is a provider whose machines exist as soon as they are asked for, and do nothing. What each was told is
// kept for the test, which speaks for the runners.
const parkProgram = `#!/bin/sh
case "$GARM_COMMAND" in
GetVersion) echo v0.1.1 ;;
CreateInstance)
	told=$(cat)
	name=$(printf '%s' "$told" | sed -n 's/.*"name": *"\([^"]*\)".*/\1/p' | head -n 1)
	printf '%s' "$told" >"DIR/$name.new"
	mv "DIR/$name.new" "DIR/$name.json"
	echo '{"provider_id": "vm-'"$name"'", "name": "'"$name"'", "os_type": "linux", "os_arch": "amd64", "status": "running",
		"addresses": [{"address": "192.0.2.7", "type": "private"}]}'
	;;
ListInstances) echo '[]' ;;
esac
`

// park holds machines whose runners say what the test lets them say.
type park struct {
	program string
	dir     string
	// seen are the machines that machines returned last.
	seen []string
}

func newPark(t *testing.T) *park {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "provider")
	if err := os.WriteFile(program, []byte(strings.ReplaceAll(parkProgram, "DIR", dir)), 0o700); err != nil {
		t.Fatal(err)
	}
	return &park{program: program, dir: dir}
}

// machines waits until n machines were made, and returns their names.
func (p *park) machines(e *env, n int) []string {
	e.t.Helper()
	var names []string
	e.eventually(func() error {
		files, err := filepath.Glob(filepath.Join(p.dir, "*.json"))
		names = nil
		for _, f := range files {
			names = append(names, strings.TrimSuffix(filepath.Base(f), ".json"))
		}
		if len(names) != n {
			return fmt.Errorf("%d machines were made, not %d", len(names), n)
		}
		return err
	})
	p.seen = names
	return names
}

// report lets the runner of a machine tell the server its status.
func (p *park) report(e *env, name, status string) {
	e.t.Helper()
	content, err := os.ReadFile(filepath.Join(p.dir, name+".json"))
	if err != nil {
		e.t.Fatal(err)
	}
	var told provider.BootstrapInstance
	if err := json.Unmarshal(content, &told); err != nil {
		e.t.Fatal(err)
	}
	body := []byte(fmt.Sprintf(`{"status": %q, "message": "says the test"}`, status))
	req, err := http.NewRequestWithContext(e.ctx, http.MethodPost, e.ServerURL()+"/api/v1/callbacks/status", bytes.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+string(told.InstanceToken))
	req.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		e.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		e.t.Fatalf("runner %s could not say that it is %s: %s", name, status, res.Status)
	}
}
