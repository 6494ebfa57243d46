package inventory

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// ObjectName returns the name of the Runner object of an instance: the instance's name in lower case. A name that no
// object can have, such as one whose prefix holds an underscore, has its odd characters replaced by dashes and gets a
// short hash of the whole, so that two of them stay two.
func ObjectName(instance string) string {
	lower := strings.ToLower(instance)
	if len(validation.IsDNS1123Subdomain(lower)) == 0 {
		return lower
	}
	sum := sha256.Sum256([]byte(lower))
	hash := hex.EncodeToString(sum[:4])
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, lower)
	plain = plain[:min(len(plain), validation.DNS1123SubdomainMaxLength-len(hash)-1)]
	plain = strings.Trim(plain, "-")
	if plain == "" {
		return "runner-" + hash
	}
	return plain + "-" + hash
}
