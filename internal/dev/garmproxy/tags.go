package garmproxy

import (
	"bytes"
	"encoding/json"
	"slices"
)

// MoreTags is a server that gives every pool some tags of its own beside those that it is asked for, as releases before v0.1.5
// did, and does not let go of them.
func MoreTags(names ...string) Dialect {
	d := moreTags{}
	for _, name := range names {
		d = append(d, encode(map[string]string{"id": "", "name": name}))
	}
	return d
}

type moreTags []json.RawMessage

func (moreTags) lacks(string) bool { return false }

func (d moreTags) answer(_, template string, status int, body []byte) (int, []byte) {
	if status < 400 && kindOf(template) == poolKind {
		return status, d.add(body)
	}
	return status, body
}

func (d moreTags) event(data []byte) ([]byte, bool) {
	var e map[string]json.RawMessage
	if json.Unmarshal(data, &e) == nil && string(e["entity-type"]) == `"pool"` {
		e["payload"] = d.add(e["payload"])
		return encode(e), true
	}
	return data, true
}

// add returns a pool, or a list of them, with the tags.
func (d moreTags) add(data json.RawMessage) json.RawMessage {
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(trimmed, &list) != nil {
			return data
		}
		for i := range list {
			list[i] = d.add(list[i])
		}
		return encode(list)
	}
	var pool map[string]json.RawMessage
	var tags []json.RawMessage
	if json.Unmarshal(data, &pool) != nil || pool["tags"] != nil && json.Unmarshal(pool["tags"], &tags) != nil {
		return data
	}
	pool["tags"] = encode(slices.Concat(tags, d))
	return encode(pool)
}
