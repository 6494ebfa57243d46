package garmproxy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Key is what requests are counted by.
type Key struct {
	Method string
	// Template is the path below /api/v1 with {id} in place of names and ids, such as /pools/{id}.
	Template string
	// Status is what the client got; 0 if it has got no answer, or none so far.
	Status int
}

// String returns "GET /pools/{id} 200".
func (k Key) String() string { return fmt.Sprintf("%s %s %d", k.Method, k.Template, k.Status) }

// Counts says how many requests were made.
type Counts map[Key]int

// Of returns the number of requests with a method, a template and a status; an empty or zero one stands for any.
func (c Counts) Of(method, template string, status int) int {
	n := 0
	for k, v := range c {
		if (method == "" || k.Method == method) && (template == "" || k.Template == template) && (status == 0 || k.Status == status) {
			n += v
		}
	}
	return n
}

// Requests returns the number of requests but for the event streams.
func (c Counts) Requests() int { return c.Of("", "", 0) - c.Of("", "/ws/events", 0) }

// Writes returns the number of requests that may change something; logins do not.
func (c Counts) Writes() int {
	n := 0
	for k, v := range c {
		if k.Method != "GET" && k.Method != "HEAD" && k.Template != "/auth/login" {
			n += v
		}
	}
	return n
}

// Since returns what was added after an earlier reading.
func (c Counts) Since(earlier Counts) Counts {
	diff := Counts{}
	for k, v := range c {
		if d := v - earlier[k]; d != 0 {
			diff[k] = d
		}
	}
	return diff
}

// String lists the counts, one a line.
func (c Counts) String() string {
	var b strings.Builder
	for _, k := range slices.SortedFunc(maps.Keys(c), func(a, b Key) int { return strings.Compare(a.String(), b.String()) }) {
		fmt.Fprintf(&b, "%6d %s\n", c[k], k)
	}
	return b.String()
}

type ledger struct {
	mu     sync.Mutex
	counts Counts
}

// begin counts a request that has no answer yet.
func (l *ledger) begin(k Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts = Counts{}
	}
	l.counts[k]++
}

// answer moves a request that begin has counted to its status.
func (l *ledger) answer(k Key, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts[k]--; l.counts[k] == 0 {
		delete(l.counts, k)
	}
	k.Status = status
	l.counts[k]++
}

// Counts returns how many requests there were since the start. One is counted before the server sees it, and its status before
// the client does: whoever sees what it has done finds it counted.
func (p *Proxy) Counts() Counts {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	return maps.Clone(p.ledger.counts)
}

// collections are the path elements that an id or a name follows.
var collections = map[string]bool{
	"repositories": true, "organizations": true, "enterprises": true, "pools": true, "instances": true, "endpoints": true,
	"credentials": true, "scalesets": true, "templates": true, "objects": true, "webhooks": true,
}

// Template returns the template of a path: /api/v1/pools/4b7f becomes /pools/{id}.
func Template(path string) string {
	rest, ok := strings.CutPrefix(strings.TrimRight(path, "/"), "/api/v1")
	if !ok {
		rest = strings.TrimRight(path, "/")
	}
	elements := strings.Split(rest, "/")
	for i := 1; i < len(elements); i++ {
		if collections[elements[i-1]] {
			elements[i] = "{id}"
		}
	}
	return strings.Join(elements, "/")
}
