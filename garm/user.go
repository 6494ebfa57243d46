package garm

import "time"

// NewUserParams is the body of POST /first-run, which makes the administrator of a new server.
type NewUserParams struct {
	Email    string `json:"email"`
	Username string `json:"username"`
	FullName string `json:"full_name"`
	Password string `json:"password"`
}

// User is a GARM user as the API shows it.
type User struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Email     string    `json:"email"`
	Username  string    `json:"username"`
	FullName  string    `json:"full_name"`
	Enabled   bool      `json:"enabled"`
	IsAdmin   bool      `json:"is_admin"`
}

// LoginParams is the body of POST /auth/login. Username may be the e-mail address.
type LoginParams struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// Token is the answer of POST /auth/login and GET /metrics-token.
type Token struct {
	Token string `json:"token"`
}

// String keeps the secret out of logs and error texts.
func (NewUserParams) String() string { return "[redacted]" }

// GoString keeps the secret out of logs and error texts.
func (NewUserParams) GoString() string { return "[redacted]" }

// String keeps the secret out of logs and error texts.
func (LoginParams) String() string { return "[redacted]" }

// GoString keeps the secret out of logs and error texts.
func (LoginParams) GoString() string { return "[redacted]" }

// String keeps the secret out of logs and error texts.
func (Token) String() string { return "[redacted]" }

// GoString keeps the secret out of logs and error texts.
func (Token) GoString() string { return "[redacted]" }
