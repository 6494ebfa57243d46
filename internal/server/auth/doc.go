// Package auth knows passwords and tokens: those of users, of metrics readers and of runner instances.
package auth
