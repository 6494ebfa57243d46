package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is who the program runs as in its container.
const user = "65532:65532"

// images writes an OCI layout with one image for each architecture, built the way the Dockerfile says, without a container
// runtime. It is the same for the same programs.
func images(args []string, out io.Writer) error {
	if len(args) < 4 {
		return errors.New("needs a version, a time, a directory to write to, and ARCHITECTURE=PROGRAM")
	}
	version, dir := args[0], args[2]
	created, err := time.Parse(time.RFC3339, args[1])
	if err != nil {
		return err
	}
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arg := range args[3:] {
		arch, program, found := strings.Cut(arg, "=")
		if !found {
			return fmt.Errorf("%q is not ARCHITECTURE=PROGRAM", arg)
		}
		made, err := imageOf(program, arch, version, created.UTC())
		if err != nil {
			return fmt.Errorf("%s: %w", arch, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: made, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}},
		})
	}
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": image + ":" + version})); err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s:%s@%s\n", image, version, digest)
	return err
}

func imageOf(program, arch, version string, created time.Time) (v1.Image, error) {
	binary, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	files := []file{
		{name: "etc/", mode: 0o755},
		{name: "etc/passwd", mode: 0o644, content: []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n")},
		{name: "etc/group", mode: 0o644, content: []byte("root:x:0:\nnonroot:x:65532:\n")},
		{name: "home/", mode: 0o755},
		{name: "home/nonroot/", mode: 0o700, owner: 65532},
		{name: "tmp/", mode: 0o1777},
		{name: "manager", mode: 0o755, content: binary},
	}
	content, err := archive(files, created)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{CreatedBy: "make release", Created: v1.Time{Time: created}}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", arch, v1.Time{Time: created}
	config.Config = v1.Config{
		User: user, Entrypoint: []string{"/manager"}, WorkingDir: "/", Env: []string{"PATH=/"},
		Labels: map[string]string{
			"org.opencontainers.image.title": "garm-operator", "org.opencontainers.image.version": version, "org.opencontainers.image.licenses": "MIT",
			"org.opencontainers.image.source": "https://github.com/garm-operator/garm-operator",
		},
	}
	return mutate.ConfigFile(image, config)
}

// file is an entry of a layer; a name with a slash at its end is a directory.
type file struct {
	name    string
	mode    int64
	owner   int
	content []byte
}

func archive(files []file, modified time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Mode: f.mode, Uid: f.owner, Gid: f.owner, Size: int64(len(f.content)), ModTime: modified, Typeflag: tar.TypeReg}
		if strings.HasSuffix(f.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}
