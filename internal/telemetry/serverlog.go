package telemetry

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"gopkg.in/natefinch/lumberjack.v2"
)

// LogOptions say what the server logs, and where.
type LogOptions struct {
	// File is rotated; empty means Fallback.
	File     string
	Fallback io.Writer
	// Level is debug, info, warn or error; info by default.
	Level string
	// JSON is the format; text otherwise.
	JSON   bool
	Source bool
}

// ServerLog is the log of a server, which clients can follow.
type ServerLog struct {
	Logger *slog.Logger
	out    io.Writer
	file   *lumberjack.Logger

	mu      sync.Mutex
	readers map[chan []byte]struct{}
}

const (
	fileMegabytes = 500
	fileBackups   = 3
	fileDays      = 28
	// followBacklog is how many lines a follower may be behind.
	followBacklog = 1024
)

// NewServerLog opens a log.
func NewServerLog(o LogOptions) (*ServerLog, error) {
	l := &ServerLog{out: o.Fallback, readers: map[chan []byte]struct{}{}}
	if l.out == nil {
		l.out = os.Stdout
	}
	if o.File != "" {
		l.file = &lumberjack.Logger{Filename: o.File, MaxSize: fileMegabytes, MaxBackups: fileBackups, MaxAge: fileDays, Compress: true}
		l.out = l.file
	}
	var level slog.Level
	if o.Level != "" {
		if err := level.UnmarshalText([]byte(o.Level)); err != nil {
			return nil, fmt.Errorf("log level: %w", err)
		}
	}
	options := &slog.HandlerOptions{Level: level, AddSource: o.Source}
	if o.JSON {
		l.Logger = slog.New(slog.NewJSONHandler(l, options))
	} else {
		l.Logger = slog.New(slog.NewTextHandler(l, options))
	}
	return l, nil
}

// Write takes one line.
func (l *ServerLog) Write(line []byte) (int, error) {
	n, err := l.out.Write(line)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.readers) == 0 {
		return n, err
	}
	copied := bytes.TrimRight(bytes.Clone(line), "\n")
	for reader := range l.readers {
		select {
		case reader <- copied:
		default:
			delete(l.readers, reader)
			close(reader)
		}
	}
	return n, err
}

// Follow returns a queue of the lines to come, and a function that ends it. The queue is closed when its reader is too
// slow.
func (l *ServerLog) Follow() (<-chan []byte, func()) {
	reader := make(chan []byte, followBacklog)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers[reader] = struct{}{}
	return reader, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if _, ok := l.readers[reader]; ok {
			delete(l.readers, reader)
			close(reader)
		}
	}
}

// Reopen closes the log file, so that the next line goes to a new one if the old was moved away.
func (l *ServerLog) Reopen() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// Close ends the log.
func (l *ServerLog) Close() error { return l.Reopen() }
