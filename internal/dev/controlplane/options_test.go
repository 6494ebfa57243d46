package controlplane_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
)

func TestMissingProgramsSayHowToGetThem(t *testing.T) {
	half := t.TempDir()
	if err := os.WriteFile(filepath.Join(half, "etcd"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, assets := range map[string]string{
		"variable not set": "",
		"no directory":     filepath.Join(half, "absent"),
		"one of two":       half,
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(controlplane.AssetsVariable, assets)
			_, err := controlplane.Start(t.Context(), controlplane.Options{})
			if !errors.Is(err, controlplane.ErrNoAssets) {
				t.Fatalf("got %v, want ErrNoAssets", err)
			}
			if !strings.Contains(err.Error(), "make ") {
				t.Errorf("the text names no command to run: %v", err)
			}
		})
	}
}

func TestControllerManagerIsNeededOnlyWhereAskedFor(t *testing.T) {
	assets := t.TempDir()
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if err := os.WriteFile(filepath.Join(assets, name), []byte("#!/bin/false\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	_, err := controlplane.Start(t.Context(), controlplane.Options{Assets: assets, ControllerManager: true})
	if !errors.Is(err, controlplane.ErrNoAssets) || !strings.Contains(err.Error(), "kube-controller-manager") {
		t.Errorf("got %v, want ErrNoAssets with the program's name", err)
	}
}

func TestWrongDefinitionsAreRefusedBeforeAnythingStarts(t *testing.T) {
	assets := t.TempDir()
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if err := os.WriteFile(filepath.Join(assets, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"nothing there": {files: fstest.MapFS{}, want: "no *.yaml file"},
		"other kinds only": {
			files: fstest.MapFS{"role.yaml": {Data: []byte("kind: ClusterRole\n")}},
			want:  "no *.yaml file",
		},
		"not YAML": {
			files: fstest.MapFS{"broken.yaml": {Data: []byte("kind: [\n")}},
			want:  "broken.yaml",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := controlplane.Start(t.Context(), controlplane.Options{Assets: assets, CRDs: test.files})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}
