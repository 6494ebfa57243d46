package demo

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// serverTable asks the API server for a table, as kubectl does, and returns its columns and rows.
func serverTable(ctx context.Context, config *rest.Config, namespace, resource string) ([]string, [][]string, error) {
	config = rest.CopyConfig(config)
	config.GroupVersion = &schema.GroupVersion{}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, nil, err
	}
	data, err := c.Get().
		AbsPath("/apis", v1beta1.GroupVersion.Group, v1beta1.GroupVersion.Version, "namespaces", namespace, resource).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").
		DoRaw(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("asking for the table of %s: %w", resource, err)
	}
	var table metav1.Table
	if err := json.Unmarshal(data, &table); err != nil {
		return nil, nil, fmt.Errorf("reading the table of %s: %w", resource, err)
	}
	var columns []string
	var rows [][]string
	for _, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			columns = append(columns, column.Name)
		}
	}
	for _, row := range table.Rows {
		var cells []string
		for i, cell := range row.Cells {
			if table.ColumnDefinitions[i].Priority == 0 {
				cells = append(cells, cellText(cell))
			}
		}
		rows = append(rows, cells)
	}
	return columns, rows, nil
}

func cellText(cell any) string {
	if cell == nil {
		return "<none>"
	}
	return fmt.Sprint(cell)
}
