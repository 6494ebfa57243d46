package rest

import (
	"log/slog"
	"net/http"

	"github.com/garm-operator/garm-operator/internal/server/auth"
	"github.com/garm-operator/garm-operator/internal/server/events"
	"github.com/garm-operator/garm-operator/internal/server/service"
)

// base is where the API lies.
const base = "/api/v1"

const (
	// maxBody bounds the body of a request.
	maxBody = 4 << 20
	// maxFrame bounds a frame from a websocket client.
	maxFrame = 1 << 20
)

// Options configure a server.
type Options struct {
	Service *service.Service
	Tokens  *auth.Tokens
	// Hub feeds the event stream.
	Hub *events.Hub
	// Logs feeds the log stream; nil where it is switched off.
	Logs LogStream
	// Webhooks takes what the forge posts to /webhooks; nil where nothing is to be taken.
	Webhooks Webhooks
	// Metrics is served at /metrics; nil where it is switched off.
	Metrics http.Handler
	// MetricsOpen serves metrics to everybody.
	MetricsOpen bool
	// Debug serves profiles at /debug/pprof/, to administrators.
	Debug bool
	// Version is the release that the server reports.
	Version string
	// CORSOrigins are the origins whose pages may call; "*" is any.
	CORSOrigins []string
	Log         *slog.Logger
}

// Webhooks takes webhooks of the forge.
type Webhooks interface {
	// Take takes the webhook of a request and leaves the answer to the caller. Its errors have a kind of package model.
	Take(w http.ResponseWriter, r *http.Request) error
}

// LogStream lets clients follow the log of the server.
type LogStream interface {
	// Follow returns a queue of lines and a function that ends it. The queue is closed when the reader is too slow.
	Follow() (<-chan []byte, func())
}

// Server answers requests. It is an http.Handler.
type Server struct {
	Options
	log     *slog.Logger
	handler http.Handler
}

// New makes a server.
func New(o Options) *Server {
	s := &Server{Options: o, log: o.Log}
	s.handler = s.recovered(s.cleanPath(s.cors(s.methods(s.routes()))))
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }
