package arch_test

import (
	"testing"

	"github.com/garm-operator/garm-operator/test/arch"
)

const root = "../.."

func loadGraph(t *testing.T) arch.Graph {
	t.Helper()
	graph, err := arch.Load(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if _, found := graph["./test/arch"]; !found {
		t.Fatalf("the graph of %d packages lacks this one", len(graph))
	}
	return graph
}

func TestImports(t *testing.T) {
	graph := loadGraph(t)
	for _, rule := range arch.Rules(graph) {
		for _, broken := range rule.Check(graph) {
			t.Error(broken)
		}
	}
}

func TestPackageNames(t *testing.T) {
	for _, broken := range arch.CheckNames(loadGraph(t)) {
		t.Error(broken)
	}
}
