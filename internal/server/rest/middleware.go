package rest

import (
	"context"
	"errors"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/server/auth"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// recovered answers 500 where a handler breaks down, so that one request costs no other.
func (s *Server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(cause)
			}
			s.log.Error("A request broke down", "method", r.Method, "path", r.URL.Path, "cause", cause, "stack", string(debug.Stack()))
			refuse(w, http.StatusInternalServerError, answers[model.KindInternal].title, "")
		}()
		next.ServeHTTP(w, r)
	})
}

// cleanPath sends clients that double a slash to the path without it, as they expect 301.
func (s *Server) cleanPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		clean := path.Clean("/" + r.URL.Path)
		if clean != "/" && strings.HasSuffix(r.URL.Path, "/") {
			clean += "/"
		}
		if clean == r.URL.Path || r.URL.Path == "" {
			next.ServeHTTP(w, r)
			return
		}
		to := *r.URL
		to.Scheme, to.Host, to.Path, to.RawPath = "", "", clean, ""
		w.Header().Set("Location", to.String())
		w.WriteHeader(http.StatusMovedPermanently)
	})
}

const (
	corsMethods = "GET,HEAD,POST,PUT,OPTIONS,DELETE"
	corsHeaders = "X-Requested-With,Content-Type,Authorization"
)

// cors lets pages of the configured origins call. Credentials are never allowed: tokens travel in a header.
func (s *Server) cors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(s.CORSOrigins) > 0 {
			w.Header().Add("Vary", "Origin")
		}
		if origin := r.Header.Get("Origin"); origin != "" && s.allowsOrigin(origin) {
			if slices.Contains(s.CORSOrigins, "*") {
				origin = "*"
			}
			w.Header().Set("Access-Control-Allow-Origin", origin)
			if r.Method == http.MethodOptions {
				w.Header().Set("Access-Control-Allow-Methods", corsMethods)
				w.Header().Set("Access-Control-Allow-Headers", corsHeaders)
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) allowsOrigin(origin string) bool {
	return slices.ContainsFunc(s.CORSOrigins, func(allowed string) bool {
		return allowed == "*" || strings.EqualFold(strings.TrimSuffix(allowed, "/"), origin)
	})
}

// methods answers OPTIONS on every path of the API, and 405 to the methods that no route has.
func (s *Server) methods(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, base+"/") {
			switch r.Method {
			case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete:
			case http.MethodOptions:
				w.WriteHeader(http.StatusOK)
				return
			default:
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// requireInit refuses requests until there is an administrator.
func (s *Server) requireInit(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch err := s.Service.CheckUninitialized(r.Context()); {
		case err == nil:
			refuse(w, http.StatusConflict, garm.InitRequired, "Missing superuser")
		case model.KindOf(err) == model.KindConflict:
			next(w, r)
		default:
			s.fail(w, r, err)
		}
	}
}

// urlsRequired is the text that old clients compare.
const urlsRequired = "Missing required URLs. Make sure you update the metadata and callback URLs"

// requireURLs refuses requests until runners can find the server.
func (s *Server) requireURLs(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, err := s.Service.Controller(r.Context())
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if c.MetadataURL == "" || c.CallbackURL == "" {
			refuse(w, http.StatusConflict, garm.URLsRequired, urlsRequired)
			return
		}
		next(w, r)
	}
}

// bearer is the token of a request. The word before it is not looked at.
func bearer(r *http.Request) string {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return token
}

func unauthenticated(w http.ResponseWriter) {
	refuse(w, http.StatusUnauthorized, "Authentication failed", "")
}

type contextKey int

const (
	claimsKey contextKey = iota
	instanceKey
)

func claimsOf(r *http.Request) auth.UserClaims {
	claims, _ := r.Context().Value(claimsKey).(auth.UserClaims)
	return claims
}

func instanceOf(r *http.Request) model.Instance {
	instance, _ := r.Context().Value(instanceKey).(model.Instance)
	return instance
}

// requireUser demands the token of a user.
func (s *Server) requireUser(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		claims, err := s.Tokens.User(bearer(r))
		if err != nil || claims.User == "" {
			unauthenticated(w)
			return
		}
		ok, err := s.stillValid(r.Context(), claims)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if !ok {
			unauthenticated(w)
			return
		}
		next(w, r.WithContext(context.WithValue(r.Context(), claimsKey, claims)))
	}
}

// stillValid says whether the user of a token may use it: the user exists, is enabled, and got the token since the
// password was last changed.
func (s *Server) stillValid(ctx context.Context, claims auth.UserClaims) (bool, error) {
	user, err := s.Service.Store.User(ctx, claims.User)
	if model.IsNotFound(err) {
		return false, nil
	}
	return user.Enabled && user.Generation == claims.Generation, err
}

// requireAdmin demands that the user is an administrator.
func (s *Server) requireAdmin(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !claimsOf(r).IsAdmin {
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

// requireInstance demands the token of an instance whose runner is being set up.
func (s *Server) requireInstance(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		claims, err := s.Tokens.Instance(bearer(r))
		if err != nil {
			unauthenticated(w)
			return
		}
		instance, err := s.Service.InstanceForToken(r.Context(), claims.ID, claims.CreateAttempt)
		if model.KindOf(err) == model.KindUnauthorized {
			unauthenticated(w)
			return
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		next(w, r.WithContext(context.WithValue(r.Context(), instanceKey, instance)))
	}
}
