package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// image is what the manifests run; a release sets the tag.
const image = "ghcr.io/garm-operator/garm-operator"

// manifests writes the files that users apply.
func manifests(args []string, _ io.Writer) error {
	if len(args) != 3 {
		return errors.New("needs the directory config, a tag and a directory to write to")
	}
	config, tag, dir := args[0], args[1], args[2]
	standard, err := tagged(filepath.Join(config, "default"), tag)
	if err != nil {
		return err
	}
	embedded, err := tagged(filepath.Join(config, "embedded"), tag)
	if err != nil {
		return err
	}
	namespace, err := build(filepath.Join(config, "rbac", "namespace"))
	if err != nil {
		return err
	}
	everywhere, err := build(filepath.Join(config, "rbac", "all-namespaces"))
	if err != nil {
		return err
	}
	all, err := forVariables(split(standard))
	if err != nil {
		return err
	}
	crds, rest := part(all, "CustomResourceDefinition")
	return errors.Join(
		write(dir, "garm_operator_all.yaml", all),
		write(dir, "garm_operator_crds.yaml", crds),
		write(dir, "garm_operator.yaml", rest),
		write(dir, "garm_operator_embedded.yaml", split(embedded)),
		write(dir, "garm_operator_rbac_namespace.yaml", watched(split(namespace))),
		write(dir, "garm_operator_rbac_all_namespaces.yaml", installed(split(everywhere))),
	)
}

// tagged renders a directory with a version of the image.
func tagged(dir, tag string) ([]byte, error) {
	text, err := build(dir)
	if err != nil {
		return nil, err
	}
	tagged := bytes.ReplaceAll(text, []byte(image+":latest"), []byte(image+":"+tag))
	if bytes.Equal(text, tagged) {
		return nil, fmt.Errorf("%s runs no %s:latest", dir, image)
	}
	return tagged, nil
}

func split(text []byte) []string {
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n---\n")
}

// part separates the documents of a kind from the others.
func part(documents []string, kind string) (of, others []string) {
	for _, d := range documents {
		if isKind(d, kind) {
			of = append(of, d)
		} else {
			others = append(others, d)
		}
	}
	return of, others
}

func isKind(document, kind string) bool { return strings.Contains("\n"+document, "\nkind: "+kind+"\n") }

// forVariables makes what envsubst fills in stay what it is: a password of digits a string, and the role that of the
// namespace that is watched.
func forVariables(documents []string) ([]string, error) {
	const plain, block = "password: $GARM_SERVER_PASSWORD\n", "password: |-\n    $GARM_SERVER_PASSWORD\n"
	out, passwords, roles := make([]string, len(documents)), 0, 0
	for i, d := range documents {
		if strings.Contains(d, plain) {
			d, passwords = strings.Replace(d, plain, block, 1), passwords+1
		}
		if managerRole(d) {
			d, roles = inWatched(d), roles+1
		}
		out[i] = d
	}
	if passwords != 1 || roles != 2 {
		return nil, fmt.Errorf("config/default has %d passwords and %d roles of the manager, not 1 and 2", passwords, roles)
	}
	return out, nil
}

func managerRole(document string) bool {
	return (isKind(document, "Role") || isKind(document, "RoleBinding")) && strings.Contains(document, "\n  name: garm-operator-manager-role")
}

// inWatched moves a Role or RoleBinding; the metadata come before the subjects.
func inWatched(document string) string {
	return strings.Replace(document, "  namespace: garm-operator-system\n", "  namespace: $OPERATOR_WATCH_NAMESPACE\n", 1)
}

// watched gives the role of one more namespace the namespace to fill in.
func watched(documents []string) []string {
	out := make([]string, len(documents))
	for i, d := range documents {
		name := "\n  name: garm-operator-manager-role"
		if isKind(d, "RoleBinding") {
			name += "binding"
		}
		out[i] = strings.Replace(d, name+"\n", name+"\n  namespace: $NAMESPACE\n", 1)
	}
	return out
}

// names are what an installation calls the parts of the roles.
var names = strings.NewReplacer(
	"name: manager-role", "name: garm-operator-manager-role", "name: controller-manager", "name: garm-operator-controller-manager",
	"namespace: system", "namespace: garm-operator-system",
)

// installed gives what is rendered without prefix and namespace those of an installation.
func installed(documents []string) []string {
	out := make([]string, len(documents))
	for i, d := range documents {
		out[i] = names.Replace(d)
	}
	return out
}

func write(dir, name string, documents []string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(documents, "\n---\n")+"\n"), 0o644)
}
