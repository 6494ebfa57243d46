package arch_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/test/arch"
)

func TestDependenciesAreExplained(t *testing.T) {
	document, err := os.ReadFile(filepath.Join(root, "docs/dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	var required []string
	for _, module := range []string{".", "tools", "tools/controlplane", "tools/helm3", "test/monitoring"} {
		found, err := arch.Requirements(t.Context(), filepath.Join(root, module, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		required = append(required, slices.DeleteFunc(found, func(path string) bool { return path == "github.com/garm-operator/garm-operator" })...)
	}
	for _, broken := range arch.CheckDependencies(string(document), required) {
		t.Error(broken)
	}
}

func TestLinks(t *testing.T) {
	broken, err := arch.CheckLinks(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range broken {
		t.Error(message)
	}
}

// placesElsewhere are put together here, so that this file does not name them.
var placesElsewhere = []string{"/work" + "/main", "/work" + "/shared", "/work" + "/.library", "/tmp" + "/w/", "proxy." + "golang.org", "/root" + "/"}

func TestNoPlacesElsewhere(t *testing.T) {
	broken, err := arch.CheckWords(root, placesElsewhere)
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range broken {
		t.Error(message)
	}
}

func TestRequirements(t *testing.T) {
	gomod := filepath.Join(t.TempDir(), "go.mod")
	write(t, gomod, `module example.org/m
go 1.26.0
require example.org/direct v1.0.0
require example.org/indirect v1.0.0 // indirect
tool example.org/indirect/cmd/tool
`)
	got, err := arch.Requirements(t.Context(), gomod)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"example.org/direct", "example.org/indirect/cmd/tool"}, got); diff != "" {
		t.Errorf("requirements differ (-want +got):\n%s", diff)
	}
}

func TestCheckDependencies(t *testing.T) {
	document := "# Title\n- `example.org/used`: for this.\n- `example.org/stale`: for that.\n- `example.org/silent`:\n- `example.org/used`: again.\n"
	want := []string{
		"example.org/silent is required and not explained: add a line \"- `example.org/silent`: why\"",
		"example.org/stale is explained and not required: remove its line",
		"example.org/used is explained twice",
	}
	got := arch.CheckDependencies(document, []string{"example.org/used", "example.org/silent"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages differ (-want +got):\n%s", diff)
	}
}

func TestCheckLinksAndWords(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "docs/a.md"), "[b](b.md#part) [up](../c.md) [gone](gone.md) [web](https://example.org/x) betrayed\n")
	write(t, filepath.Join(dir, "docs/b.md"), "")
	write(t, filepath.Join(dir, "c.md"), "[a](docs/a.md)\n")

	links, err := arch.CheckLinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"docs/a.md: the link to gone.md leads nowhere"}, links); diff != "" {
		t.Errorf("links differ (-want +got):\n%s", diff)
	}
	words, err := arch.CheckWords(dir, []string{"betray"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`docs/a.md: remove "betray"`}, words); diff != "" {
		t.Errorf("words differ (-want +got):\n%s", diff)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
