package operatorconfig

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// literalYAML reads a YAML file with every scalar as the text that stands there, so that a password such as 0123 is
// not taken for a number. It implements koanf.Parser.
type literalYAML struct{}

// Unmarshal reads a mapping of mappings.
func (literalYAML) Unmarshal(data []byte) (map[string]any, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	value, err := literal(doc.Content[0])
	if err != nil {
		return nil, err
	}
	m, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("line %d: expected sections such as garm and operator", doc.Content[0].Line)
	}
	return m, nil
}

// Marshal writes what Unmarshal reads.
func (literalYAML) Marshal(m map[string]any) ([]byte, error) { return yaml.Marshal(m) }

func literal(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			value, err := literal(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			m[n.Content[i].Value] = value
		}
		return m, nil
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return "", nil
		}
		return n.Value, nil
	default:
		return nil, fmt.Errorf("line %d: only sections and single values are expected", n.Line)
	}
}
