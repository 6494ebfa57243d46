// Package freeport finds ports for programs that are told theirs before they listen.
package freeport

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strconv"
)

// Ports that systems do not give away by themselves, so that nobody takes one between Port and its use.
const (
	firstPort = 20000
	ports     = 12000
)

// Port returns a port on which nothing listens now.
func Port(ctx context.Context) (int, error) {
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

// Address returns an address of this machine alone with a port on which nothing listens now.
func Address(ctx context.Context) (string, error) {
	port, err := Port(ctx)
	if err != nil {
		return "", err
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
}
