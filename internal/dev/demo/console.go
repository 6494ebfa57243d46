package demo

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// console prints progress with the time since the start.
type console struct {
	out     io.Writer
	start   time.Time
	timeout time.Duration
}

// step runs one step with its deadline and prints how it ended. The step returns what was seen.
func (c *console) step(ctx context.Context, title string, run func(context.Context) (string, error)) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	seen, err := run(ctx)
	if err != nil {
		c.line("FAILED  %s: %v", title, err)
		return fmt.Errorf("%s: %w", title, err)
	}
	if seen != "" {
		seen = ": " + seen
	}
	c.line("%s%s", title, seen)
	return nil
}

func (c *console) line(format string, args ...any) {
	fmt.Fprintf(c.out, "[%6.1fs] %s\n", time.Since(c.start).Seconds(), fmt.Sprintf(format, args...))
}

// table prints rows as kubectl would.
func (c *console) table(title string, columns []string, rows [][]string) {
	fmt.Fprintf(c.out, "\n%s\n", title)
	w := tabwriter.NewWriter(c.out, 0, 4, 3, ' ', 0)
	fmt.Fprintln(w, strings.ToUpper(strings.Join(columns, "\t")))
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // what cannot be shown cannot be told either
	fmt.Fprintln(c.out)
}
