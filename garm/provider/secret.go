package provider

import (
	"fmt"
	"log/slog"
)

// Secret is text that must not be shown: every way of printing it prints a placeholder. As JSON it is the plain text,
// since that is how it reaches the other side.
type Secret string

const redacted = "[redacted]"

// Format prints the placeholder under every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// String returns the placeholder.
func (Secret) String() string { return redacted }

// LogValue keeps the text out of structured logs.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
