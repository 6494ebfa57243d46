package freeport

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/dev/wait"
)

// A port is one caller's until its context ends, also before anything listens on it.
func TestPortIsClaimed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	port, err := Port(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := claim(t.Context(), port); err == nil {
		t.Errorf("port %d was given away twice", port)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		t.Fatalf("who has the port cannot use it: %v", err)
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	cancel()
	ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := wait.Until(ctx, func() error { return claim(ctx, port) }); err != nil {
		t.Errorf("the port stays claimed: %v", err)
	}
}

// A port on which somebody listens who knows nothing of claims is not given away.
func TestPortInUse(t *testing.T) {
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := claim(t.Context(), listener.Addr().(*net.TCPAddr).Port); err == nil {
		t.Error("no error")
	}
}
