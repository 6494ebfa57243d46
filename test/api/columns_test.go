package api_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// columns are the columns that kubectl get shows, those of -o wide with a star.
var columns = map[string][]string{
	"enterprises":       {"ID", "Ready", "Error*", "Pool_Manager_Failure*", "Age"},
	"organizations":     {"ID", "Ready", "Error*", "Pool_Manager_Failure*", "Age"},
	"repositories":      {"ID", "Ready", "Error*", "Pool_Manager_Failure*", "Age"},
	"images":            {"Tag", "Age"},
	"runners":           {"ID", "Pool", "Garm Runner Status", "Provider Runner Status", "Provider ID*", "Agent ID*", "Age"},
	"garmserverconfigs": {"ID", "Version", "MetadataURL*", "CallbackURL*", "WebhookURL*", "ControllerWebhookURL*", "Age"},
	"githubendpoints":   {"URL", "Ready", "Error*", "Age"},
	"githubcredentials": {"ID", "Ready", "Error*", "AuthType", "GitHubEndpoint", "Repositories*", "Organizations*", "Enterprises*", "Age"},
	"pools": {
		"ID", "MinIdleRunners", "MaxRunners", "ImageName*", "Flavor*", "Provider*", "ScopeType*", "ScopeName*", "Ready", "Error*",
		"Enabled*", "Age",
	},
}

// table asks for the table that kubectl get prints.
func (c *cluster) table(t *testing.T, resource string) metav1.Table {
	t.Helper()
	clients, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	body, err := clients.RESTClient().Get().
		AbsPath("apis", v1beta1.GroupVersion.String(), "namespaces", c.namespace, resource).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").
		DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(body, &table); err != nil || table.Kind != "Table" {
		t.Fatalf("no table (%v) in %s", err, body)
	}
	return table
}

func TestPrinterColumns(t *testing.T) {
	c := connect(t)
	for resource, want := range columns {
		t.Run(resource, func(t *testing.T) {
			var got []string
			for _, column := range c.table(t, resource).ColumnDefinitions[1:] { // the first is the name
				name := column.Name
				if column.Priority > 0 {
					name += "*"
				}
				got = append(got, name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPrinterColumnsShowValues(t *testing.T) {
	c := connect(t)
	object := c.manifest(t, v1beta1.KindPool, "shown", set("spec.minIdleRunners", "2"))
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	pool := &v1beta1.Pool{}
	pool.Name, pool.Namespace = object.GetName(), object.GetNamespace()
	pool.ResourceVersion = object.GetResourceVersion()
	pool.Status.ID = "11111111-2222-3333-4444-555555555555"
	pool.Status.Conditions = []metav1.Condition{{
		Type: v1beta1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1beta1.ReasonGarmAPIError,
		Message: "no such flavor", LastTransitionTime: metav1.Now(),
	}}
	if err := c.Status().Update(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	rows := c.table(t, "pools").Rows
	if len(rows) != 1 {
		t.Fatalf("%d rows, want 1", len(rows))
	}
	got := rows[0].Cells[:len(rows[0].Cells)-1] // without the age
	want := []any{
		"shown", pool.Status.ID, "2", "4", "ubuntu", "small", "local", "Organization", "octo-org", "False", "no such flavor", true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
