package github

import (
	"strings"
	"testing"
)

// A login in the URL of an endpoint is of no use to calls that have a token, and must not show in their errors.
func TestLoginOfEndpoint(t *testing.T) {
	base, err := apiBase("https://user:hunter2@ghe.example.com")
	if err != nil || base != "https://ghe.example.com/api/v3/" {
		t.Errorf("the API is at %q (%v)", base, err)
	}
	if _, err := apiBase("user:hunter2@ghe.example.com"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error is %v", err)
	}
}
