// Package sqlstore keeps the state of the server in SQLite. There is one writing connection, so that writers wait for
// each other in line instead of failing, and a pool of readers beside it (write-ahead log). Every change is one
// transaction; what it changed reaches the feed in the order of the commits. Secrets are sealed, see sealer.
package sqlstore
