package garmproxy

import (
	"bytes"
	"encoding/json"
	"strings"
)

// shape says how v0.1.5 shows an object of a kind: without some keys, with the same said of objects within, and with
// some values its own.
type shape struct {
	without  []string
	within   map[string]*shape
	values   map[string]string
	nullable bool
}

var (
	endpointKind = &shape{
		without:  []string{"created_at", "updated_at", "endpoint_type", "tools_metadata_url", "use_internal_tools_metadata"},
		nullable: true,
	}
	credentialsKind = &shape{
		without: []string{"created_at", "updated_at", "forge_type", "rate_limit"}, nullable: true,
		within: map[string]*shape{"endpoint": endpointKind},
	}
	instanceKind = &shape{
		without: []string{"created_at", "generation", "provider_name", "scale_set_id", "heartbeat", "capabilities"},
	}
	poolKind = &shape{
		without: []string{"created_at", "updated_at", "generation", "enable_shell", "endpoint", "template_id", "template_name"},
		within:  map[string]*shape{"instances": instanceKind},
	}
	entityKind = &shape{
		without: []string{"created_at", "updated_at", "agent_mode", "events"}, nullable: true,
		within: map[string]*shape{"endpoint": endpointKind, "credentials": credentialsKind, "pool": poolKind},
	}
	controllerKind = &shape{
		without: []string{
			"agent_url", "garm_agent_releases_url", "enable_agent_tools_sync", "ca_cert_bundle",
			"cached_garm_agent_release_fetched_at",
		},
		values: map[string]string{"version": `"v0.1.5"`},
	}
)

var eventKinds = map[string]*shape{
	"repository": entityKind, "organization": entityKind, "enterprise": entityKind, "pool": poolKind,
	"instance": instanceKind, "github_credentials": credentialsKind, "github_endpoint": endpointKind,
	"controller": controllerKind,
}

// kindOf returns the shape of what a route answers with.
func kindOf(template string) *shape {
	switch strings.TrimSuffix(template[strings.LastIndexByte(strings.TrimSuffix(template, "/{id}"), '/')+1:], "/{id}") {
	case "endpoints":
		return endpointKind
	case "credentials":
		return credentialsKind
	case "repositories", "organizations", "enterprises":
		return entityKind
	case "pools":
		return poolKind
	case "instances":
		return instanceKind
	case "controller", "controller-info":
		return controllerKind
	default:
		return nil
	}
}

// strip returns an object, or a list of them, as v0.1.5 shows it. What is neither comes back as it is, and so do the
// bytes of all values that are kept.
func (s *shape) strip(data json.RawMessage) json.RawMessage {
	switch trimmed := bytes.TrimSpace(data); {
	case len(trimmed) == 0:
		return data
	case trimmed[0] == '[':
		var list []json.RawMessage
		if json.Unmarshal(trimmed, &list) != nil {
			return data
		}
		for i := range list {
			list[i] = s.strip(list[i])
		}
		return encode(list)
	case trimmed[0] == '{':
		var object map[string]json.RawMessage
		if json.Unmarshal(trimmed, &object) != nil {
			return data
		}
		for _, key := range s.without {
			delete(object, key)
		}
		for key, inner := range s.within {
			if value, ok := object[key]; ok {
				object[key] = inner.strip(value)
			}
		}
		for key, value := range s.values {
			object[key] = json.RawMessage(value)
		}
		return encode(object)
	default:
		return data
	}
}

func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}
