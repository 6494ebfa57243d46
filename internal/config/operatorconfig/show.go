package operatorconfig

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const masked = "********"

// Show writes the effective configuration as YAML, secrets masked, with the source of each value as a comment.
func (l *Loaded) Show(out io.Writer) error {
	doc := &yaml.Node{Kind: yaml.MappingNode}
	sections := map[string]*yaml.Node{}
	for _, o := range Options() {
		section, name, _ := strings.Cut(o.Key, ".")
		node, ok := sections[section]
		if !ok {
			node = &yaml.Node{Kind: yaml.MappingNode}
			sections[section] = node
			doc.Content = append(doc.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: section}, node)
		}
		value := &yaml.Node{}
		if err := value.Encode(shown(o, field(l.Config, section, name))); err != nil {
			return fmt.Errorf("showing %s: %w", o.Key, err)
		}
		value.LineComment = string(l.Sources[o.Key])
		node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, value)
	}
	if _, err := fmt.Fprintln(out, "# effective configuration of garm-operator"); err != nil {
		return err
	}
	enc := yaml.NewEncoder(out)
	enc.SetIndent(2)
	if err := enc.Encode(doc); err != nil {
		return err
	}
	return enc.Close()
}

func shown(o Option, value any) any {
	if d, ok := value.(time.Duration); ok {
		return d.String()
	}
	if o.Secret && value != "" {
		return masked
	}
	return value
}

// field returns a value of the struct by its koanf tags.
func field(c Config, section, name string) any {
	return byTag(byTag(reflect.ValueOf(c), section), name).Interface()
}

func byTag(v reflect.Value, tag string) reflect.Value {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("koanf") == tag {
			return v.Field(i)
		}
	}
	panic("operatorconfig: no field for " + tag)
}
