// Package webhookcert keeps the webhook server's certificate: it makes an authority and a certificate, stores them in a
// Secret that all replicas share, tells the API server to trust the authority, and replaces both in time.
//
// A new authority is trusted beside the old one before any replica shows a certificate of it, so that no call fails.
//
// Nothing here needs a cache of the manager: that one cannot fill while resources are stored in a version which only the
// webhook server can convert, and the server has no certificate without this package.
package webhookcert
