package garm

// StatusUpdate is the body of POST {callback-url}/status, by which a runner reports its state.
type StatusUpdate struct {
	Status  RunnerStatus `json:"status"`
	Message string       `json:"message"`
	AgentID *int64       `json:"agent_id,omitempty"`
}

// SystemInfo is the body of POST {callback-url}/system-info, by which a runner reports where it runs.
type SystemInfo struct {
	OSName    string `json:"os_name,omitempty"`
	OSVersion string `json:"os_version,omitempty"`
	AgentID   *int64 `json:"agent_id,omitempty"`
}

// CertificateBundle is the answer of GET {metadata-url}/system/cert-bundle: PEM certificates by serial number.
type CertificateBundle struct {
	RootCertificates map[string][]byte `json:"root_certificates"`
}
