package webhookinstall

import (
	"context"
	"fmt"
	"net"
)

// FreePort returns a port on which nothing listens now: webhook servers are told their port beforehand.
func FreePort(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
