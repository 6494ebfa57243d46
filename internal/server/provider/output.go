package provider

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// capped keeps the first bytes of an output and swallows the rest, so that the writer goes on.
type capped struct {
	most     int
	buf      bytes.Buffer
	overflow bool
}

func (c *capped) Write(p []byte) (int, error) {
	if room := c.most - c.buf.Len(); len(p) > room {
		c.overflow = true
		c.buf.Write(p[:room])
		return len(p), nil
	}
	return c.buf.Write(p)
}

// text returns what was kept. Where something was cut off, so is as much as could be the beginning of a secret.
func (c *capped) text(secrets []string) string {
	text := c.buf.String()
	if !c.overflow {
		return text
	}
	longest := 0
	for _, s := range secrets {
		longest = max(longest, 2*len(s))
	}
	return text[:max(len(text)-longest, 0)]
}

// scrub takes secrets out of a text, as they are and in base64.
func scrub(text string, secrets []string) string {
	for _, s := range secrets {
		if s == "" {
			continue
		}
		for _, form := range []string{s, base64.StdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s))} {
			text = strings.ReplaceAll(text, form, "[redacted]")
		}
	}
	return text
}

func limit(s string, most int) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "")
	}
	return s
}
