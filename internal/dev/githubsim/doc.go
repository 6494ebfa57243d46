// Package githubsim is a GitHub that lives in memory: enough of its REST API, its webhooks and its jobs to develop and
// test against, over real HTTP.
//
// It answers under both /api/v3 (as GitHub Enterprise Server does) and the bare prefix (as api.github.com does): hooks,
// self-hosted runners with paging, just-in-time configurations, registration tokens, runner groups, downloads, jobs,
// rate limits and tokens of GitHub Apps. Jobs are queued by QueueJob or by POST /_sim/jobs, go to a connected runner
// whose labels match, and each change of state is told to the installed hooks, signed, once. A runner speaks package
// runnerapi.
//
// Every owner, organization and enterprise exists, except by name: one that contains "unauthorized", "forbidden" or
// "absent" answers 401, 403 or 404 on every call. Other failures are injected by AddFault or by POST /_sim/faults.
//
// The control API:
//
//	POST   /_sim/jobs          {"repo": "owner/name", "labels": [...], "duration": "2s", "count": 1}
//	GET    /_sim/jobs          all jobs
//	DELETE /_sim/jobs/{id}     cancels a job
//	POST   /_sim/faults        {"match": "^POST .*/generate-jitconfig$", "status": 502, "count": 3}
//	GET    /_sim/faults        the faults in force
//	DELETE /_sim/faults[/{id}] removes them
//	POST   /_sim/hooks         {"scope": "orgs/octo-org", "url": ..., "secret": ...}: a hook as a user installs it by hand
//	GET    /_sim/calls         how often each route was called
//	GET    /_sim/deliveries    the latest webhook deliveries
//	GET    /_sim/runners       all runners by scope
//
// All histories are bounded: the oldest entries go.
package githubsim
