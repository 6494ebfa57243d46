package arch

import (
	"fmt"
	"path"
	"slices"
)

// CheckNames returns one message for every package whose name tells where code was left over, not what it does.
func CheckNames(graph Graph) []string {
	empty := []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "lib", "tools"}
	var broken []string
	for _, name := range graph.paths() {
		if slices.Contains(empty, path.Base(name)) {
			broken = append(broken, fmt.Sprintf("%s: name the package after what it does", name))
		}
	}
	return broken
}
