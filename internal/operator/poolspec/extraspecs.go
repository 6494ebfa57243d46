// Package poolspec says when the specs of Pools mean the same, for those who compare them before there is a pool: admission,
// and the controller where admission let two through.
package poolspec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ExtraSpecs returns spec.extraSpecs in one form, and nothing for absent, null and {}. It fails, naming the field and the fix, on
// what is no JSON and on a bare number.
func ExtraSpecs(text []byte) (string, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return "", nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", fmt.Errorf("spec.extraSpecs is not JSON: %w; write it like {\"key\": \"value\"}", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("spec.extraSpecs holds more than one JSON value, or something after it; write it like {\"key\": \"value\"}")
	}
	switch v := value.(type) {
	case nil:
		return "", nil
	case json.Number:
		return "", fmt.Errorf("spec.extraSpecs is a bare number, which GARM servers cannot store; write it like {\"key\": %s}", v)
	case map[string]any:
		if len(v) == 0 {
			return "", nil
		}
	}
	out, err := json.Marshal(value)
	return string(out), err
}
