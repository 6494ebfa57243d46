package main

import (
	"crypto/sha1" //nolint:gosec // SPDX asks for it beside SHA-256
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/tagvalue"
)

// sbom writes a bill of materials of programs in SPDX's tag-value form: the programs, and the modules that they are built
// from. It is the same for the same programs.
func sbom(args []string, out io.Writer) error {
	if len(args) < 4 {
		return errors.New("needs the directory of the module, a version, a time and programs")
	}
	dir, version, programs := args[0], args[1], args[3:]
	created, err := time.Parse(time.RFC3339, args[2])
	if err != nil {
		return err
	}
	modules, err := linked(programs)
	if err != nil {
		return err
	}
	if err := readLicenses(dir, modules); err != nil {
		return err
	}
	const root = common.ElementID("Package-garm-operator")
	document := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: "garm-operator-" + version,
		DocumentNamespace: "https://github.com/garm-operator/garm-operator/releases/" + version + "/garm-operator.bom.spdx",
		CreationInfo: &spdx.CreationInfo{
			Created:  created.UTC().Format("2006-01-02T15:04:05Z"),
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "garm-operator-release"}},
		},
		Packages: []*spdx.Package{{
			PackageName: "garm-operator", PackageSPDXIdentifier: root, PackageVersion: version, FilesAnalyzed: false,
			PackageDownloadLocation: "git+https://github.com/garm-operator/garm-operator@" + version,
			PackageLicenseConcluded: "MIT", PackageLicenseDeclared: "MIT", PackageCopyrightText: "NOASSERTION",
		}},
		Relationships: []*spdx.Relationship{relation("DOCUMENT", "DESCRIBES", root)},
	}
	for _, program := range programs {
		file, err := describe(program)
		if err != nil {
			return err
		}
		document.Files = append(document.Files, file)
		document.Relationships = append(document.Relationships, relation(root, "CONTAINS", file.FileSPDXIdentifier))
	}
	for _, m := range modules {
		p := describeModule(m)
		document.Packages = append(document.Packages, p)
		document.Relationships = append(document.Relationships, relation(root, "DEPENDS_ON", p.PackageSPDXIdentifier))
	}
	return tagvalue.Write(document, out)
}

// identifier replaces what an SPDX identifier must not have.
var identifier = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func describeModule(m module) *spdx.Package {
	purl := "pkg:golang/" + m.Path + "@" + m.Version
	if m.Path == standard {
		purl = "pkg:golang/stdlib@" + m.Version
	}
	return &spdx.Package{
		PackageName: m.Path, PackageSPDXIdentifier: common.ElementID("Package-" + identifier.ReplaceAllString(m.Path+"-"+m.Version, "-")),
		PackageVersion: m.Version, PackageDownloadLocation: "NOASSERTION", FilesAnalyzed: false,
		PackageLicenseConcluded: m.License, PackageLicenseDeclared: m.License, PackageCopyrightText: "NOASSERTION",
		PackageExternalReferences: []*spdx.PackageExternalReference{{
			Category: "PACKAGE-MANAGER", RefType: "purl", Locator: purl,
		}},
	}
}

func describe(program string) (*spdx.File, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(filepath.Base(filepath.Dir(program)), filepath.Base(program))
	one, two := sha1.Sum(content), sha256.Sum256(content) //nolint:gosec // see the import
	return &spdx.File{
		FileName: "./" + name, FileSPDXIdentifier: common.ElementID("File-" + identifier.ReplaceAllString(name, "-")), FileTypes: []string{"BINARY"},
		Checksums:        []common.Checksum{{Algorithm: common.SHA1, Value: hex.EncodeToString(one[:])}, {Algorithm: common.SHA256, Value: hex.EncodeToString(two[:])}},
		LicenseConcluded: "MIT", LicenseInfoInFiles: []string{"NOASSERTION"}, FileCopyrightText: "NOASSERTION",
	}, nil
}

func relation(from common.ElementID, kind string, to common.ElementID) *spdx.Relationship {
	return &spdx.Relationship{
		RefA: common.MakeDocElementID("", string(from)), RefB: common.MakeDocElementID("", string(to)), Relationship: kind,
	}
}
