package client

import "context"

// Ping waits for the server's answer to a ping. A server handles frames in turn, so the answer also means that the
// filter is in force. Somebody has to wait in Next meanwhile.
func (s *Stream) Ping(ctx context.Context) error {
	if err := s.conn.Ping(ctx); err != nil {
		return streamError(err)
	}
	return nil
}
