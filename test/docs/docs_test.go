// Package docs_test proves that the pages of docs/ are whole: a page for each kind in one form, an explanation for each
// reason of a condition, and nothing told of the settings that is not so.
package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/config/crd"
	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
)

const root = "../../docs"

// sections are the headings of a kind's page.
var sections = []string{"Example", "Fields", "Behaviour", "Conditions", "Deletion"}

var heading = regexp.MustCompile(`(?m)^## (.+)$`)

func TestEachKindHasItsPage(t *testing.T) {
	files, err := fs.Glob(crd.Bases, "bases/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kindLine := regexp.MustCompile(`(?m)^    kind: (\w+)$`)
	for _, file := range files {
		definition, err := crd.Bases.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		match := kindLine.FindSubmatch(definition)
		if match == nil {
			t.Fatalf("%s names no kind", file)
		}
		kind := string(match[1])
		page := read(t, filepath.Join(root, "kinds", strings.ToLower(kind)+".md"))
		if !strings.HasPrefix(page, "# "+kind+"\n") {
			t.Errorf("the page of %s begins otherwise than with its name", kind)
		}
		var found []string
		for _, m := range heading.FindAllStringSubmatch(page, -1) {
			found = append(found, m[1])
		}
		if diff := cmp.Diff(sections, found); diff != "" {
			t.Errorf("sections of %s (-want +got):\n%s", kind, diff)
		}
		if index := read(t, filepath.Join(root, "kinds", "README.md")); !strings.Contains(index, "["+kind+"]("+strings.ToLower(kind)+".md)") {
			t.Errorf("docs/kinds/README.md has no link to %s", kind)
		}
	}
}

// TestEachReasonIsExplained wants every reason of a condition that asks something of the reader in docs/troubleshooting.md.
func TestEachReasonIsExplained(t *testing.T) {
	page := read(t, filepath.Join(root, "troubleshooting.md"))
	for _, reason := range reasons(t) {
		if !strings.Contains(page, "`"+reason+"`") {
			t.Errorf("docs/troubleshooting.md does not explain %s", reason)
		}
	}
}

// reasons are the values of the constants named Reason..., those of success aside.
func reasons(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../api/v1beta1/reasons.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			literal, ok := spec.Values[i].(*ast.BasicLit)
			if !ok || !strings.HasPrefix(name.Name, "Reason") {
				continue
			}
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(value, "Success") && !strings.HasSuffix(value, "Running") {
				all = append(all, value)
			}
		}
		return true
	})
	if len(all) < 10 {
		t.Fatalf("found only the reasons %v", all)
	}
	return all
}

var (
	flagName = regexp.MustCompile("`--([a-z][a-z-]+)[`= ]")
	envName  = regexp.MustCompile("`((?:OPERATOR|GARM)_[A-Z_]+)`")
)

// installVariables are filled in by whoever applies the single-file manifest; they are no settings of the program.
var installVariables = []string{"GARM_SERVER_URL", "GARM_SERVER_USERNAME", "GARM_SERVER_PASSWORD", "OPERATOR_WATCH_NAMESPACE", "GARM_OPERATOR_VERSION"}

// otherFlags are flags of other programs that pages mention.
var otherFlags = []string{"config", "dry-run", "help", "field-selector", "replicas", "set", "namespace", "server-side", "cascade", "from-literal", "from-file", "wait", "for", "once", "take-ownership", "force-conflicts", "reset-then-reuse-values", "index", "embedded"}

// TestSettingsExist (OP-46) wants every flag and environment variable that a page names to exist.
func TestSettingsExist(t *testing.T) {
	flags, envs := slices.Clone(otherFlags), slices.Clone(installVariables)
	for _, o := range operatorconfig.Options() {
		flags = append(append(flags, o.Flag), o.OldFlags...)
		envs = append(append(envs, o.Env), o.OldEnvs...)
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" || d.IsDir() {
			return err
		}
		page := read(t, path)
		for _, m := range flagName.FindAllStringSubmatch(page, -1) {
			if !slices.Contains(flags, m[1]) {
				t.Errorf("%s names the flag --%s, which does not exist", path, m[1])
			}
		}
		for _, m := range envName.FindAllStringSubmatch(page, -1) {
			if !slices.Contains(envs, m[1]) {
				t.Errorf("%s names the variable %s, which does not exist", path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
