package arch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
)

// A Package is a package of this module. Import paths of this module are written relative to its root, "./garm/client"; all
// others as they are.
type Package struct {
	Path        string
	Imports     []string // of its files
	TestImports []string // of its test files, in the package and beside it
}

// A Graph holds the packages of this module by path.
type Graph map[string]Package

// Load reads the graph of the module whose root is dir. Packages that do not compile are in it as far as they go.
func Load(ctx context.Context, dir string) (Graph, error) {
	module, err := goList(ctx, dir, "-m")
	if err != nil {
		return nil, err
	}
	listing, err := goList(ctx, dir, "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	if err != nil {
		return nil, err
	}
	return decodeGraph(strings.TrimSpace(string(module)), listing)
}

func goList(ctx context.Context, dir string, arguments ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", append([]string{"list"}, arguments...)...)
	command.Dir = dir
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w: %s", command.Args, err, stderr.Bytes())
	}
	return output, nil
}

func decodeGraph(module string, listing []byte) (Graph, error) {
	graph := Graph{}
	for decoder := json.NewDecoder(bytes.NewReader(listing)); ; {
		var listed struct {
			ImportPath                         string
			Imports, TestImports, XTestImports []string
		}
		err := decoder.Decode(&listed)
		if errors.Is(err, io.EOF) {
			return graph, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decode the output of go list: %w", err)
		}
		found := Package{Path: relative(module, listed.ImportPath)}
		for _, path := range listed.Imports {
			found.Imports = append(found.Imports, relative(module, path))
		}
		for _, path := range slices.Concat(listed.TestImports, listed.XTestImports) {
			found.TestImports = append(found.TestImports, relative(module, path))
		}
		graph[found.Path] = found
	}
}

func relative(module, path string) string {
	if path == module {
		return "."
	}
	if rest, own := strings.CutPrefix(path, module+"/"); own {
		return "./" + rest
	}
	return path
}

// paths returns the packages in a fixed order, so that messages are.
func (g Graph) paths() []string {
	return slices.Sorted(maps.Keys(g))
}

// chain returns the shortest way by imports, within this module, from a package to one that is wanted, both included; nil when
// there is none.
func (g Graph) chain(from string, wanted func(path string) bool) []string {
	previous := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range g[queue[0]].Imports {
			if _, seen := previous[next]; seen {
				continue
			}
			previous[next] = queue[0]
			if wanted(next) {
				return trace(previous, next)
			}
			queue = append(queue, next)
		}
	}
	return nil
}

func trace(previous map[string]string, last string) []string {
	var way []string
	for at := last; at != ""; at = previous[at] {
		way = append(way, at)
	}
	slices.Reverse(way)
	return way
}
