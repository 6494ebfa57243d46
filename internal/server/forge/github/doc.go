// Package github reaches GitHub and GitHub Enterprise Server for the fleet engine: runners, their registration and
// their downloads. Clients are kept per credentials and made anew when a secret or an endpoint changes. Everything it
// sends, the exchange of an App's key for a token included, goes to the API of the endpoint and trusts its CA bundle.
package github
