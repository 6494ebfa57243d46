package arch

// Rules returns the import rules of this module.
func Rules(graph Graph) []Rule {
	rules := []Rule{
		{
			Why:   "what travels between programs is plain data that anyone can import",
			From:  []string{"./garm", "./garm/provider"},
			Allow: []string{"std", "./garm"},
		},
		{
			Why:   "the client carries the wire contract and its transport, nothing of a program",
			From:  []string{"./garm/client/..."},
			Allow: []string{"std", "./garm", "./garm/client/...", "golang.org/x/...", "github.com/coder/websocket/...", "github.com/golang-jwt/jwt/..."},
		},
		{
			Why:  "users import the API types and must not get the operator's dependencies with them",
			From: []string{"./api/..."},
			Allow: []string{
				"std", "./api/...", "k8s.io/apimachinery/...",
				"sigs.k8s.io/controller-runtime/pkg/conversion", "sigs.k8s.io/controller-runtime/pkg/scheme",
			},
		},
		{
			Why:   "the nouns of the server know neither wire nor store",
			From:  []string{"./internal/server/model/..."},
			Allow: []string{"std", "./internal/server/model/..."},
		},
		{
			Why:   "the operator works with any GARM server; it meets this one in garm and garm/client",
			From:  []string{"./internal/operator/..."},
			Deny:  []string{"./internal/server/..."},
			Tests: true,
		},
		{
			Why:   "the server works without Kubernetes",
			From:  []string{"./internal/server/..."},
			Deny:  []string{"./internal/operator/...", "./api/..."},
			Tests: true,
		},
		{
			Why:  "the engine and its parts know no kind",
			From: []string{"./internal/operator/mirror/...", "./internal/operator/refs/...", "./internal/operator/status/...", "./internal/operator/remote/..."},
			Deny: []string{"./internal/operator/kinds/..."},
		},
		{
			Why:  "decisions know no SQL, no HTTP and no process; they own the interfaces they need",
			From: []string{"./internal/server/fleet/...", "./internal/server/service/..."},
			Deny: []string{
				"database/sql", "net/http", "os/exec",
				"./internal/server/store/...", "./internal/server/rest/...", "./internal/server/forge/...", "./internal/server/provider/...",
			},
		},
		{
			Why:    "model and wire meet in rest",
			From:   []string{"./internal/server/..."},
			Except: []string{"./internal/server/rest/...", "*test"},
			Deny:   []string{"./garm"},
			Direct: true,
		},
		{
			Why:   "a provider is a program of its own: it knows the protocol and Kubernetes",
			From:  []string{"./internal/k8sprovider/..."},
			Deny:  []string{"./internal/operator/...", "./internal/server/...", "./api/...", "./garm/client/..."},
			Tests: true,
		},
		{
			Why:   "what runs in a runner's Pod knows what travels between programs, nothing else of ours",
			From:  []string{"./internal/runner/..."},
			Deny:  []string{"./internal/operator/...", "./internal/server/...", "./api/..."},
			Tests: true,
		},
		{
			Why:    "a main parses, wires and runs; what it runs is in internal/app",
			From:   []string{"./cmd/..."},
			Deny:   []string{"./internal/operator/...", "./internal/server/...", "./internal/dev/...", "./internal/k8sprovider/...", "./internal/runner/..."},
			Direct: true,
		},
		{
			Why:    "a composition root is started by its main, by the development environment and by tests",
			From:   []string{"./..."},
			Except: []string{"./cmd/...", "./internal/app/...", "./internal/dev/...", "./test/..."},
			Deny:   []string{"./internal/app/..."},
			Direct: true,
		},
		{
			Why:    "the development environment is no part of a program that users run",
			From:   []string{"./..."},
			Except: []string{"./internal/dev/...", "./internal/app/dev/...", "./test/..."},
			Deny:   []string{"./internal/dev/..."},
			Direct: true,
		},
		{
			Why:    "only tests and the development environment import helpers for tests",
			From:   []string{"./..."},
			Except: []string{"./internal/dev/...", "./test/...", "*test"},
			Deny:   []string{"*test"},
			Direct: true,
		},
	}
	return append(rules, siblings(graph, "./internal/operator/kinds", "kinds meet in the engine, never in each other")...)
}
