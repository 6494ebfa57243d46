package githubsim

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// limit is the account of one token.
type limit struct {
	limit int
	used  int
	reset time.Time
}

func (l *limit) remaining() int { return max(l.limit-l.used, 0) }

// SetRateLimit says how many calls a token has left, out of how many, and when it has all of them again.
func (s *Server) SetRateLimit(token string, size, remaining int, reset time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.limits[token] = &limit{limit: size, used: size - remaining, reset: reset}
}

// limitOf is the account of a token, renewed where its window is over. The caller holds mu.
func (s *Server) limitOf(token string) *limit {
	now := s.opt.Now()
	account := s.state.limits[token]
	if account == nil {
		size := s.opt.RateLimit
		if about := s.state.tokens[token]; about != nil && about.limit > 0 {
			size = about.limit
		}
		if len(s.state.limits) >= s.opt.History {
			clear(s.state.limits)
		}
		account = &limit{limit: size, reset: now.Add(s.opt.RateWindow)}
		s.state.limits[token] = account
	}
	if !now.Before(account.reset) {
		account.used, account.reset = 0, now.Add(s.opt.RateWindow)
	}
	return account
}

// spend takes one call from the account of a token, or refuses, and writes the headers.
func (s *Server) spend(w http.ResponseWriter, token string, costs bool) *apiError {
	s.mu.Lock()
	defer s.mu.Unlock()
	account := s.limitOf(token)
	exhausted := costs && account.remaining() == 0
	if costs && !exhausted {
		account.used++
	}
	header := w.Header()
	header.Set("X-RateLimit-Limit", strconv.Itoa(account.limit))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(account.remaining()))
	header.Set("X-RateLimit-Used", strconv.Itoa(account.used))
	header.Set("X-RateLimit-Reset", strconv.FormatInt(account.reset.Unix(), 10))
	header.Set("X-RateLimit-Resource", "core")
	if !exhausted {
		return nil
	}
	who := "user"
	if about := s.state.tokens[token]; about != nil && about.login != "" {
		who = "user " + about.login
	}
	return &apiError{
		status: http.StatusForbidden, Message: fmt.Sprintf("API rate limit exceeded for %s.", who),
		DocumentationURL: "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api",
	}
}

// rateLimit answers GET /rate_limit, which costs nothing.
func (s *Server) rateLimit(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	token, _ := r.Context().Value(tokenKey{}).(string)
	s.mu.Lock()
	defer s.mu.Unlock()
	account := s.limitOf(token)
	core := map[string]any{"limit": account.limit, "used": account.used, "remaining": account.remaining(), "reset": account.reset.Unix()}
	return http.StatusOK, map[string]any{"resources": map[string]any{"core": core}, "rate": core}, nil
}
