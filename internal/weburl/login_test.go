package weburl_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/garm-operator/garm-operator/internal/weburl"
)

func TestWithoutLogin(t *testing.T) {
	for in, want := range map[string]string{
		"":                                      "",
		"https://garm.example.com/a?b#c":        "https://garm.example.com/a?b#c",
		"https://user:hunter2@garm.example.com": "https://garm.example.com",
		"https://hunter2@garm.example.com:1/a@": "https://garm.example.com:1/a@",
		"https://user:p@ss@garm.example.com/":   "https://garm.example.com/",
		"https://garm.example.com/?to=a@b":      "https://garm.example.com/?to=a@b",
		"//user:hunter2@garm":                   "//garm",
		"user:hunter2@garm:9997":                "garm:9997",
		"http://us er:hunter2@garm":             "http://garm",
		"ftp://[::1]:%zz@garm/":                 "ftp://garm/",
	} {
		if got := weburl.WithoutLogin(in); got != want {
			t.Errorf("%q becomes %q, not %q", in, got, want)
		}
		if got := weburl.HasLogin(in); got != (in != want) {
			t.Errorf("%q has a login: %t", in, got)
		}
	}
}

// Whatever parses has no login afterwards, and else means the same.
func FuzzWithoutLogin(f *testing.F) {
	for _, seed := range []string{"https://user:pass@host/path?q#f", "https://host", "//@", "a@b", "http://a@b@c/d@e", "https://user:@[::1]:80"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.Parse(text)
		if err != nil || !strings.Contains(text, "://") || u.Scheme == "" || u.Opaque != "" {
			return
		}
		got, err := url.Parse(weburl.WithoutLogin(text))
		if err != nil {
			t.Fatalf("%q becomes %q: %v", text, weburl.WithoutLogin(text), err)
		}
		if weburl.HasLogin(text) != (u.User != nil) {
			t.Errorf("%q has a login: %t", text, weburl.HasLogin(text))
		}
		u.User = nil
		if got.String() != u.String() {
			t.Errorf("%q becomes %q, not %q", text, got, u)
		}
	})
}
