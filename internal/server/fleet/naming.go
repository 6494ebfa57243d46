package fleet

import (
	"crypto/rand"
	"strings"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

const (
	nameSuffix = 12
	maxName    = 63
)

const nameLetters = "0123456789abcdefghijklmnopqrstuvwxyz"

// runnerName draws a name that is a DNS label: prefix, a hyphen and twelve random lower-case letters and digits. What a
// DNS label does not allow in prefix becomes a hyphen.
func runnerName(prefix string) string {
	prefix = dnsPrefix(prefix)
	if prefix == "" {
		prefix = model.DefaultRunnerPrefix
	}
	return prefix + "-" + randomLetters(nameSuffix)
}

func dnsPrefix(prefix string) string {
	mapped := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, prefix)
	if most := maxName - nameSuffix - 1; len(mapped) > most {
		mapped = mapped[:most]
	}
	return strings.Trim(mapped, "-")
}

func randomLetters(n int) string {
	out := make([]byte, 0, n)
	// 252 is the largest multiple of 36 in a byte: above it letters would not be equally likely.
	for buf := make([]byte, 2*n); len(out) < n; {
		_, _ = rand.Read(buf)
		for _, b := range buf {
			if b < 252 && len(out) < n {
				out = append(out, nameLetters[int(b)%len(nameLetters)])
			}
		}
	}
	return string(out)
}
