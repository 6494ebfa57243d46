package githubsim

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// bearer is what is known about an access token.
type bearer struct {
	login   string
	limit   int       // 0: the usual one
	expires time.Time // zero: never
	// installation is that of an App's token, 0 for a personal one.
	installation int64
}

// AddToken makes a personal access token good, also one that was revoked.
func (s *Server) AddToken(token string, about Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.state.revoked, token)
	s.state.tokens[token] = &bearer{login: about.Login, limit: about.RateLimit}
}

// RevokeToken makes a token, of whatever kind, answer 401 from now on.
func (s *Server) RevokeToken(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.revoked[token] = true
	delete(s.state.tokens, token)
}

// authenticated checks the token of a request, counts it against its rate limit where it costs something, and shows the
// limit in the headers of every answer.
func (s *Server) authenticated(handle endpoint, costs bool) http.HandlerFunc {
	return answer(func(w http.ResponseWriter, r *http.Request) (int, any, *apiError) {
		token, failure := s.authenticate(r)
		if failure != nil {
			return 0, nil, failure
		}
		if failure := s.spend(w, token, costs); failure != nil {
			return 0, nil, failure
		}
		return handle(w, r.WithContext(context.WithValue(r.Context(), tokenKey{}, token)))
	})
}

type tokenKey struct{}

func bearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") && !strings.EqualFold(scheme, "token") {
		return ""
	}
	return strings.TrimSpace(token)
}

func (s *Server) authenticate(r *http.Request) (string, *apiError) {
	token := bearerToken(r)
	if token == "" {
		return "", &apiError{status: http.StatusUnauthorized, Message: "Requires authentication"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.state.tokens[token]
	if known == nil && s.opt.Tokens == nil && !s.state.revoked[token] && !strings.HasPrefix(token, installationPrefix) {
		return token, nil
	}
	if known == nil || !known.expires.IsZero() && !s.opt.Now().Before(known.expires) {
		return "", &apiError{status: http.StatusUnauthorized, Message: badCredentials}
	}
	return token, nil
}

// installationPrefix begins the tokens of App installations, as GitHub's do.
const installationPrefix = "ghs_"

// installationToken answers POST /app/installations/{id}/access_tokens, which an App signs with its own key.
func (s *Server) installationToken(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	id, failure := idOf(r)
	if failure != nil {
		return 0, nil, failure
	}
	app, err := s.verifyApp(bearerToken(r))
	if err != nil {
		return 0, nil, &apiError{status: http.StatusUnauthorized, Message: "A JSON web token could not be decoded: " + err.Error()}
	}
	if !contains(app.Installations, id) {
		return 0, nil, notFound()
	}
	life := app.TokenLife
	if life == 0 {
		life = time.Hour
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetExpired()
	token := installationPrefix + strconv.FormatInt(id, 10) + "_" + strconv.FormatInt(s.nextID("token"), 10) + "_" + randomText()
	expires := s.opt.Now().Add(life)
	s.state.tokens[token] = &bearer{login: fmt.Sprintf("app-%d[bot]", app.ID), expires: expires, installation: id}
	return http.StatusCreated, map[string]any{
		"token": token, "expires_at": expires.UTC().Format(time.RFC3339), "repository_selection": "all",
		"permissions": map[string]string{"actions": "write", "administration": "write", "organization_self_hosted_runners": "write"},
	}, nil
}

// verifyApp finds the App that signed a token: RS256, issued by the App, good for ten minutes at most.
func (s *Server) verifyApp(token string) (App, error) {
	var found App
	claims := jwt.RegisteredClaims{}
	_, err := jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) {
		for _, app := range s.opt.Apps {
			if claims.Issuer == strconv.FormatInt(app.ID, 10) || app.ClientID != "" && claims.Issuer == app.ClientID {
				found = app
				return app.PublicKey, nil
			}
		}
		return nil, fmt.Errorf("unknown issuer %q", claims.Issuer)
	}, jwt.WithValidMethods([]string{"RS256"}), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithTimeFunc(s.opt.Now), jwt.WithLeeway(time.Minute))
	if err != nil {
		return App{}, err
	}
	if claims.ExpiresAt.Sub(s.opt.Now()) > 11*time.Minute {
		return App{}, fmt.Errorf("'Expiration time' claim ('exp') is too far in the future")
	}
	return found, nil
}

// forgetExpired keeps the tables of short-lived tokens small. The caller holds mu.
func (s *Server) forgetExpired() {
	now := s.opt.Now()
	for token, about := range s.state.tokens {
		if !about.expires.IsZero() && now.After(about.expires) {
			delete(s.state.tokens, token)
			delete(s.state.limits, token)
		}
	}
	for token, about := range s.state.registration {
		if now.After(about.expires) {
			delete(s.state.registration, token)
		}
	}
}
