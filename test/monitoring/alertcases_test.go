package monitoring_test

import "time"

// alertCase is a fault that an alert tells of. Unless a line says otherwise it begins after ten minutes.
type alertCase struct {
	fault []string
	// at is when the alert fires: not a minute earlier.
	at      time.Duration
	summary string
	// labels are those by which alerts of different things stay apart, besides alertname and severity.
	labels map[string]string
	// quiet are worlds in which it does not fire: what is well, what soon passes, and what looks like the fault.
	quiet map[string][]string
}

// Series of the pool that the cases are about.
const (
	enabled = `garm_operator_pool_runners_enabled{namespace="ci",name="builders"} 1`
	minIdle = `garm_operator_pool_runners_min_idle{namespace="ci",name="builders"} 2`
	maximum = `garm_operator_pool_runners_max{namespace="ci",name="builders"} 5`
)

func runners(state, values string) string {
	return `garm_operator_pool_runners{namespace="ci",name="builders",state="` + state + `"} ` + values
}

func serverUp(values string) string {
	return `garm_operator_server_up{server="https://garm"} ` + values
}

func providerCalls(metric, values string) string {
	return metric + `{operation="CreateInstance",provider="machines"} ` + values
}

func forgeCalls(metric, operation, values string) string {
	return metric + `{operation="` + operation + `",scope="Organization"} ` + values
}

var (
	ofServer = map[string]string{"server": "https://garm"}
	ofPool   = map[string]string{"namespace": "ci", "name": "builders"}
)

func ofRunners(state string) map[string]string {
	return map[string]string{"namespace": "ci", "name": "builders", "state": state}
}

// alertCases has a case for every alert.
var alertCases = map[string]alertCase{
	"GarmServerDown": {
		fault: []string{serverUp("1x9 0")}, at: 15 * time.Minute,
		summary: "The operator cannot work with the GARM server https://garm.", labels: ofServer,
		quiet: map[string][]string{"the server restarts": {serverUp("1x9 0x3 1")}, "nobody leads": {}},
	},
	"GarmOperatorAbsent": {
		fault: []string{serverUp("1x9 stale")}, at: 20 * time.Minute, summary: "No garm-operator leads.",
		quiet: map[string][]string{
			"the server is down, and the operator says so": {serverUp("0")},
			"another replica leads after eight minutes":    {serverUp("1x9 stale _x7 1")},
		},
	},
	"GarmTokenExpired": {
		fault: []string{`garm_operator_client_jwt_expiration_timestamp_seconds 600`}, at: 16 * time.Minute,
		summary: "The operator's token of the GARM server has ended.",
		quiet: map[string][]string{
			"nobody has logged in yet":            {`garm_operator_client_jwt_expiration_timestamp_seconds 0`},
			"a new one comes before the old ends": {`garm_operator_client_jwt_expiration_timestamp_seconds 3600x55 1000000`},
		},
	},
	"GarmEventsDisconnected": {
		fault: []string{serverUp("1"), `garm_operator_server_events_connected{server="https://garm"} 1x9 0`}, at: 70 * time.Minute,
		summary: "The operator gets no events from the GARM server https://garm.", labels: ofServer,
		quiet: map[string][]string{
			"the server is down": {serverUp("0"), `garm_operator_server_events_connected{server="https://garm"} 0`},
			"the stream is open": {serverUp("1"), `garm_operator_server_events_connected{server="https://garm"} 1`},
			"it opens again":     {serverUp("1"), `garm_operator_server_events_connected{server="https://garm"} 1x9 0x50 1x9 0x50 1`},
		},
	},
	"GarmPermissionsMissing": {
		fault:   []string{`garm_operator_permissions_missing{verb="patch",resource="validatingwebhookconfigurations"} _x10 2`},
		at:      20 * time.Minute,
		summary: "The operator may not patch validatingwebhookconfigurations.",
		labels:  map[string]string{"verb": "patch", "resource": "validatingwebhookconfigurations"},
		quiet: map[string][]string{
			"the role is bound while it is installed": {`garm_operator_permissions_missing{verb="get",resource="secrets"} 1x8 stale`},
		},
	},
	"GarmSyncStale": {
		fault: []string{
			`garm_operator_last_sync_timestamp_seconds{server="https://garm",kind="Pool"} 0+60x10 600`,
			`garm_operator_last_sync_timestamp_seconds{server="https://garm",kind="Instance"} 0+60x200`,
		},
		at: 46 * time.Minute, summary: "Pool objects of https://garm have not been read for 36m 0s.",
		labels: map[string]string{"server": "https://garm", "kind": "Pool"},
		quiet: map[string][]string{
			"a sync every half hour": {`garm_operator_last_sync_timestamp_seconds{server="https://garm",kind="Pool"} 0x29 1800x29 3600x29 5400x29 7200x29 9000x29 10800x29 12600x29 14400`},
		},
	},
	"GarmResourceNotReady": {
		fault: []string{`garm_operator_resource_not_ready_since_timestamp_seconds{kind="Pool",namespace="ci",name="builders",reason="ProviderNotFound"} _x10 600`},
		at:    31 * time.Minute, summary: "Pool ci/builders has not been Ready for 21m 0s.",
		labels: map[string]string{"kind": "Pool", "namespace": "ci", "name": "builders"},
		quiet: map[string][]string{
			"it is Ready after a quarter of an hour": {`garm_operator_resource_not_ready_since_timestamp_seconds{kind="Pool",namespace="ci",name="builders",reason="GarmUnavailable"} _x10 600x15 stale`},
		},
	},
	"GarmDeletionStuck": {
		fault: []string{`garm_operator_oldest_deletion_timestamp_seconds{kind="Pool"} _x10 600`}, at: 76 * time.Minute,
		summary: "A Pool has been waiting to be deleted for 1h 6m 0s.", labels: map[string]string{"kind": "Pool"},
		quiet: map[string][]string{
			"it is gone within the hour":    {`garm_operator_oldest_deletion_timestamp_seconds{kind="Pool"} _x10 600x58 stale`},
			"each waits, none of them long": {`garm_operator_oldest_deletion_timestamp_seconds{kind="Pool"} 0x29 1800x29 3600x29 5400x29 7200x29 9000x29 10800x29 12600x29 14400`},
		},
	},
	"GarmReconcileErrors": {
		fault: []string{
			`garm_operator_reconcile_errors_total{kind="Pool",reason="GarmAPIError"} 0x9 0+12x200`,
			`garm_operator_reconcile_errors_total{kind="Image",reason="ReconcileError"} 7`,
		},
		at: 33 * time.Minute, summary: "Pool resources keep failing with GarmAPIError.",
		labels: map[string]string{"kind": "Pool", "reason": "GarmAPIError"},
		quiet: map[string][]string{
			"one resource is tried with growing pauses": {`garm_operator_reconcile_errors_total{kind="Pool",reason="GarmAPIError"} 0x9 1 3 5 6 7x4 8x9 9x20 10x20 11`},
			"the server restarts":                       {`garm_operator_reconcile_errors_total{kind="Pool",reason="GarmAPIError"} 0x9 0+60x3 180`},
		},
	},
	"GarmDriftLasts": {
		fault: []string{
			`garm_operator_drift_total{kind="Pool",field="flavor"} 0x9 1x29 2x29 3x29 4x29 5x29 6x29 7x29 8`,
			`garm_operator_drift_total{kind="Pool",field="image"} 0x9 40`,
		},
		at: 190 * time.Minute, summary: "Somebody keeps changing flavor of Pool objects at the GARM server.",
		labels: map[string]string{"kind": "Pool", "field": "flavor"},
		quiet: map[string][]string{
			"an Image changes that all Pools use": {`garm_operator_drift_total{kind="Pool",field="image"} 3x9 60`},
			"somebody edits twice":                {`garm_operator_drift_total{kind="Pool",field="flavor"} 3x9 4x40 5`},
		},
	},
	"GarmPoolWithoutIdleRunners": {
		fault: []string{enabled, minIdle, runners("idle", "2x9 0"), runners("active", "0")}, at: 25 * time.Minute,
		summary: "Pool ci/builders has no idle runner, though it should.", labels: ofRunners("idle"),
		quiet: map[string][]string{
			"it has one":                      {enabled, minIdle, runners("idle", "2x9 1")},
			"it is disabled":                  {`garm_operator_pool_runners_enabled{namespace="ci",name="builders"} 0`, minIdle, runners("idle", "0")},
			"it makes runners for jobs alone": {enabled, `garm_operator_pool_runners_min_idle{namespace="ci",name="builders"} 0`, runners("idle", "0")},
			"new ones take ten minutes":       {enabled, minIdle, runners("idle", "2x9 0x10 2x9 0x10 2")},
			"nothing is known of its runners": {enabled, minIdle},
		},
	},
	"GarmPoolRunnersDoNotStart": {
		// Every 20 minutes the server gives up and makes another.
		fault: []string{runners("pending", "0x9 1x19 0x2 1x19 0x2 1x19 0x2 1x19 0x2 1x19 0x2 1"), runners("idle", "0"), runners("active", "0")},
		at:    55 * time.Minute, summary: "Runners of Pool ci/builders are made, but none reports for work.", labels: ofPool,
		quiet: map[string][]string{
			"one works while others start":      {runners("pending", "3"), runners("idle", "0"), runners("active", "1")},
			"a busy pool, between two jobs":     {runners("pending", "1"), runners("idle", "0"), runners("active", "1x8 0x7 1x8 0x7 1x8 0x7 1x8 0x7 1x8 0x7 1x8 0x7 1")},
			"a machine that takes half an hour": {runners("pending", "0x9 1x30 0"), runners("idle", "0x40 1"), runners("active", "0")},
			"it has no runner":                  {runners("pending", "0"), runners("idle", "0"), runners("active", "0")},
		},
	},
	"GarmPoolAtMaximum": {
		fault: []string{maximum, runners("active", "1x9 4"), runners("pending", "1"), runners("idle", "0")}, at: 25 * time.Minute,
		summary: "Pool ci/builders has as many runners at work as it may have.", labels: ofPool,
		quiet: map[string][]string{
			"there is room":       {maximum, runners("active", "4"), runners("pending", "0"), runners("idle", "1")},
			"a burst":             {maximum, runners("active", "1x9 5x13 1"), runners("pending", "0")},
			"it may have nothing": {`garm_operator_pool_runners_max{namespace="ci",name="builders"} 0`, runners("active", "0"), runners("pending", "0")},
		},
	},
	"GarmPoolRunnersFail": {
		fault: []string{runners("failed", "0x9 2"), runners("idle", "3")}, at: 25 * time.Minute,
		summary: "2 runners of Pool ci/builders have failed.", labels: ofRunners("failed"),
		quiet: map[string][]string{"it is removed and made anew": {runners("failed", "0x9 1x13 0")}},
	},
	"GarmWebhooksRefused": {
		fault: []string{
			`garm_webhook_received{valid="true",reason=""} 0+5x200`,
			`garm_webhook_received{valid="false",reason="signature_invalid"} 0x9 1`,
		},
		at: 10 * time.Minute, summary: "The GARM server refused webhooks of GitHub: signature_invalid.",
		labels: map[string]string{"reason": "signature_invalid"},
		quiet: map[string][]string{
			"webhooks of others": {`garm_webhook_received{valid="true",reason=""} 0+5x200`, `garm_webhook_received{valid="false",reason="owner_unknown"} 0+1x200`},
			"one long ago":       {`garm_webhook_received{valid="false",reason="signature_invalid"} 1`},
		},
	},
	"GarmProviderFails": {
		fault: []string{providerCalls("garm_runner_operations_total", "0+4x200"), providerCalls("garm_runner_errors_total", "0x9 0+3x200")},
		// Three of four fail, so that they are more than half of the last quarter of an hour after eleven minutes.
		at: 41 * time.Minute, summary: "75% of the runs of CreateInstance of the provider machines fail.",
		labels: map[string]string{"operation": "CreateInstance", "provider": "machines"},
		quiet: map[string][]string{
			"one of four fails":   {providerCalls("garm_runner_operations_total", "0+4x200"), providerCalls("garm_runner_errors_total", "0+1x200")},
			"one run that failed": {providerCalls("garm_runner_operations_total", "0x9 1"), providerCalls("garm_runner_errors_total", "0x9 1")},
			"nothing runs":        {providerCalls("garm_runner_operations_total", "4"), providerCalls("garm_runner_errors_total", "3")},
		},
	},
	"GarmForgeFails": {
		fault: []string{
			forgeCalls("garm_github_operations_total", "CreateJITConfig", "0+2x200"), forgeCalls("garm_github_errors_total", "CreateJITConfig", "0x9 0+2x200"),
			forgeCalls("garm_github_operations_total", "ListRunners", "0+1x200"),
		},
		at:      38 * time.Minute,
		summary: "100% of the GARM server's calls of CreateJITConfig to GitHub fail, for the scope Organization.",
		labels:  map[string]string{"operation": "CreateJITConfig", "scope": "Organization"},
		quiet: map[string][]string{
			"runners that are gone already": {
				forgeCalls("garm_github_operations_total", "GetRunner", "0+2x200"), forgeCalls("garm_github_errors_total", "GetRunner", "0+2x200"),
			},
			"one call that failed": {
				forgeCalls("garm_github_operations_total", "ListRunners", "0+1x200"), forgeCalls("garm_github_errors_total", "ListRunners", "0x9 1"),
			},
		},
	},
}
