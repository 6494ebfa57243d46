package scale_test

import "net"

// port returns a port that was free a moment ago.
func (f *fleet) port() string {
	f.tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.tb.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		f.tb.Fatal(err)
	}
	return port
}
