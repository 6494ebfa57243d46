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

// columnPaths are where the columns take their values from, those of all kinds by name, and of single ones by kind and name.
var columnPaths = map[string]string{
	"ID": ".status.id string", "Ready": ".status.conditions[?(@.type=='Ready')].status string", "Error": ".status.conditions[?(@.type=='Ready')].message string",
	"Pool_Manager_Failure": ".status.conditions[?(@.reason=='PoolManagerFailure')].message string", "Age": ".metadata.creationTimestamp date",
	"Pool MinIdleRunners": ".spec.minIdleRunners string", "Pool MaxRunners": ".spec.maxRunners string", "Pool ImageName": ".spec.imageName string",
	"Pool Flavor": ".spec.flavor string", "Pool Provider": ".spec.providerName string", "Pool ScopeType": ".spec.githubScopeRef.kind string",
	"Pool ScopeName": ".spec.githubScopeRef.name string", "Pool Enabled": ".spec.enabled boolean", "Image Tag": ".spec.tag string",
	"Runner Pool": ".status.poolId string", "Runner Garm Runner Status": ".status.status string", "Runner Provider Runner Status": ".status.instanceStatus string",
	"Runner Provider ID": ".status.providerId string", "Runner Agent ID": ".status.agentId string",
	"GarmServerConfig ID": ".status.controllerId string", "GarmServerConfig Version": ".status.version string",
	"GarmServerConfig MetadataURL": ".status.metadataUrl string", "GarmServerConfig CallbackURL": ".status.callbackUrl string",
	"GarmServerConfig WebhookURL": ".status.webhookUrl string", "GarmServerConfig ControllerWebhookURL": ".status.controllerWebhookUrl string",
	"GitHubEndpoint URL": ".spec.apiBaseUrl string", "GitHubCredential AuthType": ".spec.authType string",
	"GitHubCredential GitHubEndpoint": ".spec.endpointRef.name string", "GitHubCredential Repositories": ".status.repositories string",
	"GitHubCredential Organizations": ".status.organizations string", "GitHubCredential Enterprises": ".status.enterprises string",
}

// Every column of either version shows what users of the known operator see in it.
func TestPrinterColumnPaths(t *testing.T) {
	used := map[string]bool{}
	for kind, definition := range definitions(t) {
		for _, version := range definition.Spec.Versions {
			for _, column := range version.AdditionalPrinterColumns {
				name := kind + " " + column.Name
				if columnPaths[name] == "" {
					name = column.Name
				}
				used[name] = true
				if got := column.JSONPath + " " + column.Type; got != columnPaths[name] {
					t.Errorf("%s %s: the column %s shows %s, not %s", version.Name, kind, column.Name, got, columnPaths[name])
				}
			}
		}
	}
	if len(used) != len(columnPaths) {
		t.Errorf("%d columns are there, not %d", len(used), len(columnPaths))
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
