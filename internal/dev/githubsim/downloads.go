package githubsim

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
)

// runnerVersion is that of the runner programs on offer.
const runnerVersion = "2.328.0"

// downloadable is a runner program for one platform.
type downloadable struct{ os, architecture, filename string }

var downloadables = []downloadable{
	{"linux", "x64", "actions-runner-linux-x64-" + runnerVersion + ".tar.gz"},
	{"linux", "arm64", "actions-runner-linux-arm64-" + runnerVersion + ".tar.gz"},
	{"linux", "arm", "actions-runner-linux-arm-" + runnerVersion + ".tar.gz"},
	{"win", "x64", "actions-runner-win-x64-" + runnerVersion + ".zip"},
	{"osx", "x64", "actions-runner-osx-x64-" + runnerVersion + ".tar.gz"},
}

// content stands for the program: the same bytes each time, so that its checksum holds.
func (d downloadable) content() []byte {
	return []byte("simulated runner program " + d.filename + "\n")
}

func (s *Server) listDownloads(http.ResponseWriter, *http.Request) (int, any, *apiError) {
	list := []map[string]any{}
	for _, d := range downloadables {
		sum := sha256.Sum256(d.content())
		list = append(list, map[string]any{
			"os": d.os, "architecture": d.architecture, "filename": d.filename,
			"download_url": s.publicURL() + "/downloads/" + d.filename, "sha256_checksum": hex.EncodeToString(sum[:]),
		})
	}
	return http.StatusOK, list, nil
}

func (s *Server) download(w http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	for _, d := range downloadables {
		if d.filename == r.PathValue("file") {
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write(d.content())
			return 0, nil, nil
		}
	}
	return 0, nil, notFound()
}
