package poolspec_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/garm-operator/garm-operator/internal/operator/poolspec"
)

func FuzzExtraSpecs(f *testing.F) {
	for _, seed := range []string{"", "null", "{}", `{"a":[1,2,{"b":"<"}]}`, "7", "{", `"\ud800"`, "[] []", "{}}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		once, err := poolspec.ExtraSpecs(text)
		if err != nil {
			return
		}
		if len(bytes.TrimSpace(text)) > 0 && !json.Valid(text) {
			t.Fatalf("%q was taken for JSON", text)
		}
		twice, err := poolspec.ExtraSpecs([]byte(once))
		if err != nil || once != twice {
			t.Fatalf("%q became %q, and then %q: %v", text, once, twice, err)
		}
	})
}
