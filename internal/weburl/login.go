// Package weburl keeps the logins that URLs may hold out of what is shown.
package weburl

import "strings"

// WithoutLogin returns a URL without the user and password that it may hold, to be shown in a status, a log or an error.
// What is no URL comes back as it is, unless it looks like one.
func WithoutLogin(url string) string {
	from, to := login(url)
	return url[:from] + url[to:]
}

// HasLogin says whether a URL holds a user or a password.
func HasLogin(url string) bool {
	from, to := login(url)
	return from < to
}

// login returns where the user and password of a URL begin and end, the @ included. It does not parse: what does not parse
// may hold a password all the same.
func login(url string) (from, to int) {
	scheme, _, found := strings.Cut(url, "//")
	if found && (scheme == "" || strings.HasSuffix(scheme, ":")) && !strings.ContainsAny(scheme, "/?#@") {
		from = len(scheme) + len("//")
	}
	end := len(url)
	if i := strings.IndexAny(url[from:], "/?#"); i >= 0 {
		end = from + i
	}
	if at := strings.LastIndex(url[from:end], "@"); at >= 0 {
		return from, from + at + 1
	}
	return from, from
}
