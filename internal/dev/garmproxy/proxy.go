package garmproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/garm-operator/garm-operator/internal/dev/freeport"
)

// eventsPath is the event stream, which the proxy takes apart; all else it forwards.
const eventsPath = "/api/v1/ws/events"

// Proxy is a proxy that listens on a port of the loopback interface. Its methods may be called at any time.
type Proxy struct {
	target  *url.URL
	address string
	// release gives the port back.
	release func()
	forward *httputil.ReverseProxy
	ledger  ledger
	faults  faults
	streams streams

	mu      sync.Mutex
	dialect Dialect
	server  *http.Server
}

// Start makes a proxy in front of the server at target, such as http://127.0.0.1:9997. It listens until Close.
func Start(target string) (*Proxy, error) {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("target %q: want a URL such as http://127.0.0.1:9997", target)
	}
	// One that nobody takes while the proxy refuses.
	ctx, release := context.WithCancel(context.Background())
	address, err := freeport.Address(ctx)
	if err != nil {
		release()
		return nil, err
	}
	p := &Proxy{target: u, address: address, release: release}
	p.forward = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(u)
			r.Out.Host = r.In.Host
			// A compressed answer could not be rewritten.
			r.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: p.translate,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.streams.init()
	if err := p.listen(); err != nil {
		release()
		return nil, err
	}
	return p, nil
}

// URL returns the address of the proxy.
func (p *Proxy) URL() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return "http://" + p.address
}

// Refuse makes the proxy refuse connections, and breaks those that are open; or listen again on the same port.
func (p *Proxy) Refuse(refuse bool) error {
	if !refuse {
		return p.listen()
	}
	p.stop()
	return nil
}

// Close stops listening and breaks all connections, for good.
func (p *Proxy) Close() {
	p.stop()
	p.release()
}

func (p *Proxy) stop() {
	p.mu.Lock()
	server := p.server
	p.server = nil
	p.mu.Unlock()
	if server != nil {
		_ = server.Close()
	}
	p.streams.closeAll()
}

func (p *Proxy) listen() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", p.address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	p.address = listener.Addr().String()
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func(s *http.Server) {
		if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			panic(err)
		}
	}(p.server)
	return nil
}

// ServeHTTP counts the request, and lets a fault or the server answer it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	template := Template(r.URL.Path)
	key := Key{Method: r.Method, Template: template}
	p.ledger.begin(key)
	counted := &countedWriter{ResponseWriter: w, answered: func(status int) { p.ledger.answer(key, status) }}
	answer := http.HandlerFunc(p.answer)
	if f, ok := p.faults.match(r.Method, template); ok {
		f.serve(counted, r, answer)
		return
	}
	answer(counted, r)
}

func (p *Proxy) answer(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.TrimSuffix(r.URL.Path, "/") == eventsPath:
		p.serveEvents(w, r)
	case p.speaks().lacks(Template(r.URL.Path)):
		writeJSON(w, http.StatusNotFound, `{"details":"Resource not found","error":"Not found"}`)
	default:
		p.forward.ServeHTTP(w, r)
	}
}

// countedWriter tells of the status before the client gets it.
type countedWriter struct {
	http.ResponseWriter
	answered func(status int)
	done     bool
}

// WriteHeader implements http.ResponseWriter.
func (w *countedWriter) WriteHeader(status int) {
	if !w.done && status != http.StatusContinue {
		w.done = true
		w.answered(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *countedWriter) Write(b []byte) (int, error) {
	if !w.done {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func writeJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}
