package service

import (
	"context"
	"runtime"
	"sync"

	"github.com/garm-operator/garm-operator/internal/server/auth"
)

// passwords hashes and checks passwords. Both are slow on purpose and anyone can ask for them, so they get half of the
// processors at most: a flood of logins slows down logins, and nothing else.
type passwords struct {
	once   sync.Once
	places chan struct{}
}

// take waits for a place. It returns how to give it back, or the error of ctx.
func (p *passwords) take(ctx context.Context) (func(), error) {
	p.once.Do(func() { p.places = make(chan struct{}, max(runtime.GOMAXPROCS(0)/2, 1)) })
	select {
	case p.places <- struct{}{}:
		return func() { <-p.places }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *passwords) hash(ctx context.Context, password string, cost int) ([]byte, error) {
	done, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return auth.HashPassword(password, cost)
}

func (p *passwords) check(ctx context.Context, hash []byte, password string) (bool, error) {
	done, err := p.take(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	return auth.CheckPassword(hash, password), nil
}
