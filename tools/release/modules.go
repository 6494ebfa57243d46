package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// module is a Go module that a program is built from.
type module struct {
	Path, Version, Sum string
	// Texts are its licence and notice files by name; License is the SPDX identifier of what they say, or NOASSERTION.
	Texts   map[string]string
	License string
}

// standard is the path under which Go's standard library is known to those who look for vulnerabilities.
const standard = "std"

// linked returns the modules that programs are built from by the programs' own words, the standard library among them and the
// main one left out.
func linked(programs []string) ([]module, error) {
	found := map[string]module{}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, err
		}
		version := strings.TrimPrefix(strings.Fields(info.GoVersion)[0], "go")
		found[standard+"@"+version] = module{Path: standard, Version: version}
		for _, d := range info.Deps {
			if d.Replace != nil {
				d = d.Replace
			}
			found[d.Path+"@"+d.Version] = module{Path: d.Path, Version: d.Version, Sum: d.Sum}
		}
	}
	modules := make([]module, 0, len(found))
	for _, key := range slices.Sorted(maps.Keys(found)) {
		modules = append(modules, found[key])
	}
	return modules, nil
}

// readLicenses fills in the licences, from where the go command keeps the modules of the module in dir.
func readLicenses(dir string, modules []module) error {
	root, err := goCommand(dir, "env", "GOROOT")
	if err != nil {
		return err
	}
	dirs := map[string]string{}
	args := []string{"mod", "download", "-json"}
	for _, m := range modules {
		if m.Path == standard {
			dirs[m.Path+"@"+m.Version] = strings.TrimSpace(string(root))
			continue
		}
		args = append(args, m.Path+"@"+m.Version)
	}
	out, err := goCommand(dir, args...)
	if err != nil {
		return err
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var m struct{ Path, Version, Dir string }
		if err := decoder.Decode(&m); err != nil {
			return err
		}
		dirs[m.Path+"@"+m.Version] = m.Dir
	}
	for i := range modules {
		m := &modules[i]
		if m.Texts, err = licenseTexts(dirs[m.Path+"@"+m.Version]); err != nil {
			return fmt.Errorf("%s: %w", m.Path, err)
		}
		m.License = identify(m.Texts)
	}
	return nil
}

func goCommand(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s %s: %w", args[0], args[1], err)
	}
	return out, nil
}

// legal matches the files that tell under what terms a module is given.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|copyright|unlicense)([.\-_].*)?$`)

func licenseTexts(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, e := range entries {
		if e.Type().IsRegular() && legal.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			texts[e.Name()] = string(text)
		}
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("no licence in %s", dir)
	}
	return texts, nil
}

// identify returns the licences that texts consist of as an SPDX expression.
func identify(texts map[string]string) string {
	ids := map[string]bool{}
	for name, text := range texts {
		if strings.HasPrefix(strings.ToLower(name), "patents") {
			continue // a grant beside a licence, for which SPDX has no name
		}
		coverage := licensecheck.Scan([]byte(text))
		if coverage.Percent < 75 {
			continue
		}
		for _, match := range coverage.Match {
			ids[match.ID] = true
		}
	}
	if len(ids) == 0 {
		return "NOASSERTION"
	}
	return strings.Join(slices.Sorted(maps.Keys(ids)), " AND ")
}
