package install_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// descriptor points at a blob of an OCI layout.
type descriptor struct {
	Digest   string
	Platform struct{ OS, Architecture string }
}

// blob decodes a blob of a layout.
func blob[T any](t *testing.T, layout string, d descriptor) T {
	t.Helper()
	var into T
	content, err := os.ReadFile(filepath.Join(layout, "blobs", filepath.FromSlash(strings.Replace(d.Digest, ":", "/", 1))))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &into); err != nil {
		t.Fatal(err)
	}
	return into
}

// OP-64: the images of a release are for both architectures, run the program where the known image has it, as nobody, and are
// the same for the same programs.
func TestOP64Images(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "garm-operator")
	if err := os.WriteFile(program, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	var said [2]string
	layouts := [2]string{t.TempDir(), t.TempDir()}
	for n, dir := range layouts {
		out, err := tools.Run(t.Context(), "images", "v1.2.3", "2026-01-02T03:04:05Z", dir, "amd64="+program, "arm64="+program)
		if err != nil {
			t.Fatal(err)
		}
		said[n] = string(out)
	}
	if said[0] != said[1] || !strings.HasPrefix(said[0], "ghcr.io/garm-operator/garm-operator:v1.2.3@sha256:") {
		t.Errorf("the images are %q and %q", said[0], said[1])
	}
	type index struct{ Manifests []descriptor }
	content, err := os.ReadFile(filepath.Join(layouts[0], "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var top index
	if err := json.Unmarshal(content, &top); err != nil || len(top.Manifests) != 1 {
		t.Fatalf("the layout's index is %s, %v", content, err)
	}
	var platforms []string
	for _, d := range blob[index](t, layouts[0], top.Manifests[0]).Manifests {
		platforms = append(platforms, d.Platform.OS+"/"+d.Platform.Architecture)
		manifest := blob[struct{ Config descriptor }](t, layouts[0], d)
		image := blob[struct {
			Architecture string
			Config       struct {
				User       string
				Entrypoint []string
			}
		}](t, layouts[0], manifest.Config)
		if image.Architecture != d.Platform.Architecture || image.Config.User != "65532:65532" || !cmp.Equal(image.Config.Entrypoint, []string{"/manager"}) {
			t.Errorf("the image for %s is %+v", d.Platform.Architecture, image)
		}
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, platforms); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}
