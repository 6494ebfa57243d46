package install_test

import (
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"os"
	"strings"
	"testing"
)

// OP-64: the bill of materials of a release names the programs by their sums, and every module that they are built from, with its
// version and its licence. Here the program is the one that writes it.
func TestOP64BillOfMaterials(t *testing.T) {
	t.Parallel()
	program, err := tools.Program(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	out, err := tools.Run(t.Context(), "sbom", "../../tools", "v1.2.3", "2026-01-02T03:04:05Z", program)
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil || len(info.Deps) == 0 {
		t.Fatalf("the program does not know what it is built from: %v", err)
	}
	want := []string{
		"SPDXVersion: SPDX-2.3", "DocumentName: garm-operator-v1.2.3", "Created: 2026-01-02T03:04:05Z",
		fmt.Sprintf("FileChecksum: SHA256: %x", sha256.Sum256(content)), "ExternalRef: PACKAGE-MANAGER purl pkg:golang/stdlib@",
	}
	for _, d := range info.Deps {
		want = append(want, "ExternalRef: PACKAGE-MANAGER purl pkg:golang/"+d.Path+"@"+d.Version)
	}
	for _, line := range want {
		if !strings.Contains(string(out), "\n"+line) && !strings.HasPrefix(string(out), line) {
			t.Errorf("no line %q", line)
		}
	}
	if n := strings.Count(string(out), "PackageLicenseConcluded: NOASSERTION"); n > 0 {
		t.Errorf("the licences of %d modules are not known", n)
	}
}
