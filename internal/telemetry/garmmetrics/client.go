package garmmetrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/garm-operator/garm-operator/garm/client"
)

// Label and value that every metric of the operator carries.
const (
	ControllerLabel = "controller"
	ControllerValue = "garm_operator"
)

// Client is told what a client of GARM does, and shows it as metrics:
//
//	garm_operator_client_jwt_expiration_timestamp_seconds   gauge: when the present token ends, in Unix seconds
//	garm_operator_client_api_requests_total                 counter by method: requests that were sent
//	garm_operator_client_api_requests_errors_total          counter by method: calls that failed
//
// It is a collector of its own: register it where it is to be scraped.
type Client struct {
	expiry   prometheus.Gauge
	requests *prometheus.CounterVec
	errors   *prometheus.CounterVec
}

var (
	_ client.Recorder      = (*Client)(nil)
	_ prometheus.Collector = (*Client)(nil)
)

// NewClient makes the metrics of one client. Before the first login the time is 0.
func NewClient() *Client {
	constant := prometheus.Labels{ControllerLabel: ControllerValue}
	return &Client{
		expiry: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "garm_operator_client_jwt_expiration_timestamp_seconds", ConstLabels: constant,
			Help: "When the present token of the GARM server ends, in Unix seconds.",
		}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "garm_operator_client_api_requests_total", ConstLabels: constant,
			Help: "Requests to the GARM server.",
		}, []string{"method"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "garm_operator_client_api_requests_errors_total", ConstLabels: constant,
			Help: "Failed calls to the GARM server.",
		}, []string{"method"}),
	}
}

// Request counts a request that is sent.
func (c *Client) Request(method string) { c.requests.WithLabelValues(method).Inc() }

// Error counts a call that failed.
func (c *Client) Error(method string) { c.errors.WithLabelValues(method).Inc() }

// TokenExpiry shows when the token of the latest login ends.
func (c *Client) TokenExpiry(at time.Time) { c.expiry.Set(float64(at.Unix())) }

// Describe is part of prometheus.Collector.
func (c *Client) Describe(out chan<- *prometheus.Desc) {
	for _, m := range c.all() {
		m.Describe(out)
	}
}

// Collect is part of prometheus.Collector.
func (c *Client) Collect(out chan<- prometheus.Metric) {
	for _, m := range c.all() {
		m.Collect(out)
	}
}

func (c *Client) all() []prometheus.Collector {
	return []prometheus.Collector{c.expiry, c.requests, c.errors}
}
