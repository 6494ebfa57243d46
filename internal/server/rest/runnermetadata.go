package rest

import (
	"encoding/json"
	"net/http"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/service"
)

// runnerMetadata is what a script of v0.2 asks for in one request.
type runnerMetadata struct {
	Access          metadataAccess    `json:"metadata_access"`
	ForgeType       string            `json:"forge_type"`
	RegistrationURL string            `json:"runner_registration_url"`
	Name            string            `json:"runner_name"`
	Labels          []string          `json:"runner_labels,omitempty"`
	CABundles       map[string][]byte `json:"ca_bundles,omitempty"`
	ExtraSpecs      json.RawMessage   `json:"extra_specs,omitempty"`
	AgentMode       bool              `json:"agent_mode"`
	JIT             bool              `json:"jit_enabled"`
	Tools           *runnerTool       `json:"runner_tools,omitempty"`
}

type metadataAccess struct {
	CallbackURL string `json:"callback_url"`
	MetadataURL string `json:"metadata_url"`
	AgentURL    string `json:"agent_url"`
}

type runnerTool struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	DownloadURL  string `json:"download_url"`
	Filename     string `json:"filename"`
	SHA256       string `json:"sha256_checksum,omitempty"`
	TempToken    string `json:"temp_download_token,omitempty"`
}

func (s *Server) runnerMetadata(w http.ResponseWriter, r *http.Request) {
	m, err := s.Service.RunnerMetadata(r.Context(), instanceOf(r))
	answer(s, w, r, m, err, wireMetadata)
}

func wireMetadata(m service.RunnerMetadata) runnerMetadata {
	wire := runnerMetadata{
		Access:    metadataAccess{CallbackURL: m.Controller.CallbackURL, MetadataURL: m.Controller.MetadataURL, AgentURL: agentURL(m.Controller)},
		ForgeType: string(m.Entity.Endpoint().Type), RegistrationURL: m.RegistrationURL, Name: m.Instance.Name, Labels: m.Labels, CABundles: m.Certificates,
		ExtraSpecs: m.ExtraSpecs, AgentMode: m.Entity.AgentMode, JIT: m.Instance.JIT,
	}
	if t := m.Tool; t != nil {
		wire.Tools = &runnerTool{OS: t.OS, Architecture: t.Architecture, DownloadURL: t.DownloadURL, Filename: t.Filename, SHA256: t.SHA256, TempToken: t.TempToken}
	}
	return wire
}

// agentTools is empty: this server hands out no agent.
func (s *Server) agentTools(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, struct {
		Total   int        `json:"total_count"`
		Pages   int        `json:"pages"`
		Current int        `json:"current_page"`
		Results []struct{} `json:"results"`
	}{Current: 1, Results: []struct{}{}})
}

func runnerStatus(s garm.RunnerStatus) model.RunnerStatus { return model.RunnerStatus(s) }
