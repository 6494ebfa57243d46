// Package client speaks to a GARM (GitHub Actions Runner Manager) server: typed calls over its REST API and its event
// stream.
//
// A Client logs in when it has to, one login at a time however many callers wait, renews its token before it ends and
// once more when the server refuses it. Every failed call is a *garm.Error whose text holds no secret. Every request is
// sent at most once, apart from the one repeat after a new login: whether a failed call is worth repeating is for the
// caller to decide, since GARM has no idempotency keys.
package client
