package webhookinstall

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strconv"
)

// Ports that systems do not give away by themselves, so that nobody takes one between FreePort and its use.
const (
	firstPort = 20000
	ports     = 12000
)

// FreePort returns a port on which nothing listens now: webhook servers are told their port beforehand.
func FreePort(ctx context.Context) (int, error) {
	var tried error
	for range 20 {
		n, err := rand.Int(rand.Reader, big.NewInt(ports))
		if err != nil {
			return 0, fmt.Errorf("draw a port: %w", err)
		}
		port := firstPort + int(n.Int64())
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", ":"+strconv.Itoa(port))
		if err == nil {
			return port, listener.Close()
		}
		tried = errors.Join(tried, err)
	}
	return 0, fmt.Errorf("find a free port: %w", tried)
}
