package arch

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Requirements returns the modules that a go.mod file names itself, not through others: for a module with tools the tools'
// packages, else the direct requirements.
func Requirements(ctx context.Context, gomod string) ([]string, error) {
	output, err := exec.CommandContext(ctx, "go", "mod", "edit", "-json", gomod).Output()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", gomod, err)
	}
	var file struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Tool []struct{ Path string }
	}
	if err := json.Unmarshal(output, &file); err != nil {
		return nil, fmt.Errorf("read %s: %w", gomod, err)
	}
	var paths []string
	for _, require := range file.Require {
		if !require.Indirect {
			paths = append(paths, require.Path)
		}
	}
	for _, tool := range file.Tool {
		paths = append(paths, tool.Path)
	}
	return paths, nil
}

var dependencyLine = regexp.MustCompile("(?m)^- `([^`]+)`: \\S")

// CheckDependencies compares the lines of docs/dependencies.md with what is required.
func CheckDependencies(document string, required []string) []string {
	var listed, broken []string
	for _, line := range dependencyLine.FindAllStringSubmatch(document, -1) {
		listed = append(listed, line[1])
	}
	for _, path := range required {
		if !slices.Contains(listed, path) {
			broken = append(broken, fmt.Sprintf("%s is required and not explained: add a line \"- `%s`: why\"", path, path))
		}
	}
	for i, path := range listed {
		if !slices.Contains(required, path) {
			broken = append(broken, fmt.Sprintf("%s is explained and not required: remove its line", path))
		}
		if slices.Contains(listed[:i], path) {
			broken = append(broken, fmt.Sprintf("%s is explained twice", path))
		}
	}
	return broken
}

var link = regexp.MustCompile(`\]\(([^)\s#]+)[^)]*\)`)

// CheckLinks returns one message for every link from a Markdown file to a file that does not exist.
func CheckLinks(root string) ([]string, error) {
	var broken []string
	err := walkFiles(root, func(name string, content []byte) {
		if filepath.Ext(name) != ".md" {
			return
		}
		for _, found := range link.FindAllSubmatch(content, -1) {
			target := string(found[1])
			if strings.Contains(target, ":") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(name), target)); err != nil {
				broken = append(broken, fmt.Sprintf("%s: the link to %s leads nowhere", name, target))
			}
		}
	})
	return broken, err
}

// CheckWords returns one message for every file that names a place which exists on somebody's machine only.
func CheckWords(root string, words []string) ([]string, error) {
	var broken []string
	err := walkFiles(root, func(name string, content []byte) {
		for _, word := range words {
			if strings.Contains(string(content), word) {
				broken = append(broken, fmt.Sprintf("%s: remove %q", name, word))
			}
		}
	})
	return broken, err
}

// notOurs is what Git keeps, a file in a linked working tree, and what was built.
var notOurs = []string{".git", "bin", "dist"}

// walkFiles visits the files of the repository with their path relative to its root; what was built is none.
func walkFiles(root string, visit func(name string, content []byte)) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if slices.Contains(notOurs, name) {
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		visit(name, content)
		return nil
	})
}
