package stack

import (
	"fmt"
	"os"
	"path/filepath"
)

// machines is a provider whose machines are names: it answers that they run, and does nothing else.
const machines = `#!/bin/sh
case "$GARM_COMMAND" in
CreateInstance)
	name=$(sed -n 's/.*"name":"\([^"]*\)".*/\1/p' | head -n 1)
	echo "{\"provider_id\":\"m-$name\",\"name\":\"$name\",\"os_type\":\"linux\",\"os_arch\":\"amd64\",\"status\":\"running\"}" ;;
ListInstances) echo "[]" ;;
esac
`

// WriteProvider writes a provider program to a folder, for Options.Provider, and returns its path. Its machines are names: they
// run as soon as they are asked for, and no runner works on them.
func WriteProvider(dir string) (string, error) {
	path := filepath.Join(dir, "machines")
	if err := os.WriteFile(path, []byte(machines), 0o700); err != nil {
		return "", fmt.Errorf("writing a provider: %w", err)
	}
	return path, nil
}
