// Package webhook takes what a forge posts about jobs: size cap, signature, decoding, one transaction.
package webhook
