package rest

import (
	"slices"
	"testing"

	"github.com/garm-operator/garm-operator/garm"
)

func FuzzFilter(f *testing.F) {
	for _, seed := range []string{
		`{"filters":[{"entity-type":"pool","operations":["create"]}]}`, `{"send-everything":true}`, `{"filters":[]}`, `{}`, `null`, `{"filters":[{"entity-type":"x"}]}`,
	} {
		f.Add([]byte(seed), "pool", "create")
	}
	f.Fuzz(func(t *testing.T, frame []byte, kind, operation string) {
		filter, ok, err := parseFilter(frame)
		if err != nil && (ok || filter != nil) {
			t.Error("a filter that is refused is used")
		}
		if err != nil {
			return
		}
		selected := filter.selects(garm.EntityType(kind), garm.Operation(operation))
		if selected && !ok {
			t.Error("a filter that names nothing selects something")
		}
		known := slices.Contains(knownTypes, garm.EntityType(kind)) && slices.Contains(knownOperations, garm.Operation(operation))
		if selected && !filter.everything && !known {
			t.Errorf("the filter selects %s of %s", operation, kind)
		}
	})
}
