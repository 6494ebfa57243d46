package replay

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// decode tells what kind of body a text is, and its value.
func decode(text string) (kind string, value any) {
	if text == "" {
		return "empty", nil
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return "text", text
	}
	if _, err := decoder.Token(); err != io.EOF { // more than one value
		return "text", text
	}
	return "json", value
}

var (
	metricType   = regexp.MustCompile(`(?m)^# TYPE (garm_\S+) (\S+)$`)
	metricSample = regexp.MustCompile(`(?m)^(garm_[a-z0-9_]+)(\{.*\})? [^ ]+$`)
	metricLabel  = regexp.MustCompile(`([a-z_]+)="`)
)

// metricShapes are the metrics of GARM itself in a text exposition, each with its type and the names of its labels.
func metricShapes(text string) map[string]bool {
	types := map[string]string{}
	for _, m := range metricType.FindAllStringSubmatch(text, -1) {
		types[m[1]] = m[2]
	}
	shapes := map[string]bool{}
	for _, m := range metricSample.FindAllStringSubmatch(text, -1) {
		labels := map[string]bool{}
		for _, label := range metricLabel.FindAllStringSubmatch(m[2], -1) {
			labels[label[1]] = true
		}
		kind, ok := types[m[1]]
		if !ok {
			kind = "?"
		}
		shapes[m[1]+" "+kind+" {"+strings.Join(slices.Sorted(maps.Keys(labels)), ",")+"}"] = true
	}
	return shapes
}

// extraSpecs is the exact text of the first value of the key extra_specs, and whether there is one.
func extraSpecs(text string) (string, bool) {
	_, rest, found := strings.Cut(text, `"extra_specs":`)
	if !found {
		return "", false
	}
	var raw json.RawMessage
	if err := json.NewDecoder(strings.NewReader(rest)).Decode(&raw); err != nil {
		return "", false
	}
	return string(bytes.TrimSpace(raw)), true
}
