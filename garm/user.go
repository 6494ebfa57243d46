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
