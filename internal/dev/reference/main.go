package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("docs"); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// run rewrites the generated parts of the pages below docs.
func run(docs string) error {
	if err := replace(filepath.Join(docs, "reference", "operator.md"), "settings", settings()); err != nil {
		return err
	}
	kinds, err := kinds()
	if err != nil {
		return err
	}
	for _, k := range kinds {
		if err := replace(filepath.Join(docs, "kinds", k.file()), "fields", k.fields()); err != nil {
			return err
		}
	}
	return nil
}

// replace puts content between the two comments of a page that mark its generated part.
func replace(page, part string, content []byte) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	begin, end := []byte("<!-- generated: "+part+" -->\n"), []byte("<!-- end of "+part+" -->\n")
	before, rest, found := bytes.Cut(old, begin)
	_, after, ended := bytes.Cut(rest, end)
	if !found || !ended {
		return fmt.Errorf("%s has no lines %q and %q", page, bytes.TrimSpace(begin), bytes.TrimSpace(end))
	}
	out := bytes.Join([][]byte{before, begin, content, end, after}, nil)
	if bytes.Equal(old, out) {
		return nil
	}
	return os.WriteFile(page, out, 0o644) //nolint:gosec // a page for everybody to read
}
