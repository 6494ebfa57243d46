package client

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

const (
	// maxRenewal is the longest time before its end that a token is renewed.
	maxRenewal = 5 * time.Minute
	// minRenewable is the life of a token that is worth renewing before its end. Ends are in whole seconds, so that
	// tokens of a few seconds would be renewed much too often.
	minRenewable = 30 * time.Second
	// clockNoise is how far clocks may differ before they are taken to be set wrong. A Date header is in whole seconds.
	clockNoise = 2 * time.Second
)

// token is what a login gave. The zero value is no token.
type token struct {
	value string
	// renewAt is when to log in again, and endsAt when the server refuses the token; both are zero if that is unknown.
	renewAt, endsAt time.Time
}

// newToken reads when a token ends, by the clock of this machine: if that and the server's, which is the Date header,
// differ, the exp claim is moved by the difference. The signature is not checked, since only the server has the key.
func newToken(value string, header http.Header, now time.Time) token {
	t := token{value: value}
	exp, ok := expiry(value)
	if !ok {
		return t
	}
	life := exp.Sub(now)
	if date, err := http.ParseTime(header.Get("Date")); err == nil && now.Sub(date).Abs() > clockNoise {
		life = exp.Sub(date)
	}
	// A token that looks as if it had ended at once says more of the clocks than of the token.
	if life <= 0 {
		return t
	}
	t.endsAt = now.Add(life)
	t.renewAt = t.endsAt
	if life >= minRenewable {
		t.renewAt = t.endsAt.Add(-min(life/10, maxRenewal))
	}
	return t
}

func (t token) usable(now time.Time) bool {
	return t.value != "" && (t.endsAt.IsZero() || now.Before(t.endsAt))
}

func (t token) fresh(now time.Time) bool {
	return t.value != "" && (t.renewAt.IsZero() || now.Before(t.renewAt))
}

// expiry reads the exp claim of a JSON web token.
func expiry(value string) (time.Time, bool) {
	parts := strings.Split(value, ".")
	if len(parts) != 3 {
		return time.Time{}, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return time.Time{}, false
	}
	var claims struct {
		Exp float64 `json:"exp"`
	}
	// Beyond the year 9999 the number is no date.
	if json.Unmarshal(payload, &claims) != nil || claims.Exp <= 0 || claims.Exp > 253402300799 {
		return time.Time{}, false
	}
	return time.Unix(int64(claims.Exp), 0), true
}
