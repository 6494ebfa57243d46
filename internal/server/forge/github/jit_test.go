package github

import (
	"encoding/base64"
	"strings"
	"testing"
)

func FuzzDecodeJIT(f *testing.F) {
	f.Add(base64.StdEncoding.EncodeToString([]byte(`{".runner":"e30="}`)))
	f.Add("")
	f.Add(base64.StdEncoding.EncodeToString([]byte(`{".runner":7}`)))
	f.Fuzz(func(t *testing.T, encoded string) {
		config, err := decodeJIT(encoded)
		if (err == nil) != (len(config) > 0) {
			t.Errorf("%d files, error %v", len(config), err)
		}
		if err != nil && len(encoded) > 40 && strings.Contains(err.Error(), encoded) {
			t.Errorf("the error quotes the configuration: %v", err)
		}
	})
}
