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

// Port returns a TCP port on which nothing listens now. Until ctx ends no other call returns it, in this process or another: the
// UDP port of the same number is the claim to it.
func Port(ctx context.Context) (int, error) {
	var tried error
	for range 20 {
		n, err := rand.Int(rand.Reader, big.NewInt(ports))
		if err != nil {
			return 0, fmt.Errorf("draw a port: %w", err)
		}
		port := firstPort + int(n.Int64())
		if err = claim(ctx, port); err == nil {
			return port, nil
		}
		tried = errors.Join(tried, err)
	}
	return 0, fmt.Errorf("find a free port: %w", tried)
}

func claim(ctx context.Context, port int) error {
	var listen net.ListenConfig
	address := ":" + strconv.Itoa(port)
	claim, err := listen.ListenPacket(ctx, "udp", address)
	if err != nil {
		return err
	}
	listener, err := listen.Listen(ctx, "tcp", address)
	if err == nil {
		err = listener.Close()
	}
	if err != nil {
		return errors.Join(err, claim.Close())
	}
	context.AfterFunc(ctx, func() { _ = claim.Close() })
	return nil
}

// Address returns an address of this machine alone, with a port of Port's.
func Address(ctx context.Context) (string, error) {
	port, err := Port(ctx)
	if err != nil {
		return "", err
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
}
