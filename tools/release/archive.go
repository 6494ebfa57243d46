package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// archiveFiles packs files, each at the top, and directories' content into a tar file, compressed where its name ends in .gz.
// Owners and times are not those of the files, so that it is the same each time.
func archiveFiles(args []string, _ io.Writer) (err error) {
	if len(args) < 3 {
		return errors.New("needs a time, a file to write and files")
	}
	modified, err := time.Parse(time.RFC3339, args[0])
	if err != nil {
		return err
	}
	out, err := os.Create(args[1])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	var to io.Writer = out
	if strings.HasSuffix(args[1], ".gz") {
		compressed := gzip.NewWriter(out)
		defer func() { err = errors.Join(err, compressed.Close()) }()
		to = compressed
	}
	w := tar.NewWriter(to)
	for _, path := range args[2:] {
		if err := add(w, path, modified); err != nil {
			return err
		}
	}
	return w.Close()
}

func add(w *tar.Writer, root string, modified time.Time) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.Base(root)
		if path != root {
			name, err = filepath.Rel(root, path)
			if err != nil {
				return err
			}
		}
		if entry.IsDir() {
			if path == root {
				return nil
			}
			return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, ModTime: modified})
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: int64(info.Mode().Perm()&0o111 | 0o644), ModTime: modified}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
}
