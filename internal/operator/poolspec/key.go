package poolspec

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
)

// Indices of Pools, which the controller of Pools makes: by Key, and by the name of the Image.
const (
	Field      = "spec"
	ImageField = "spec.imageName"
)

// Key is the same for Pools of one namespace whose whole specs mean the same to a server: order, case and repetition of tags,
// the form of the JSON, synonyms of the architecture and values that stand for a default do not count.
func Key(p *v1beta1.Pool) string {
	spec := p.Spec
	spec.GitHubScopeRef.APIGroup = nil
	spec.Tags = Tags(spec.Tags)
	spec.OSArch = spec.OSArch.Canonical()
	if spec.RunnerPrefix == "" {
		spec.RunnerPrefix = garm.DefaultRunnerPrefix
	}
	if spec.DeletionPolicy == v1beta1.DeletionPolicyDelete {
		spec.DeletionPolicy = ""
	}
	if extra, err := ExtraSpecs([]byte(spec.ExtraSpecs)); err == nil {
		spec.ExtraSpecs = extra
	}
	text, _ := json.Marshal(spec) // strings, numbers and booleans always marshal
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

// Tags returns labels as they are compared: in lower case, in order, each once.
func Tags(tags []string) []string {
	out := make([]string, 0, len(tags))
	for _, t := range tags {
		out = append(out, strings.ToLower(t))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
