package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// BootstrapInstance says which machine CreateInstance has to make and what the machine needs to become a runner.
type BootstrapInstance struct {
	// Name is unique among the machines of a server, also without letter case.
	Name string `json:"name"`
	// Tools are the runner programs that the forge offers for download.
	Tools []Tool `json:"tools"`
	// RepoURL is the address of the repository, organization or enterprise, to which the runner registers.
	RepoURL string `json:"repo_url"`
	// CallbackURL is where the machine reports its state, MetadataURL where it gets its credentials.
	CallbackURL string `json:"callback-url"`
	MetadataURL string `json:"metadata-url"`
	// InstanceToken is the bearer token for both.
	InstanceToken Secret   `json:"instance-token"`
	SSHKeys       []string `json:"ssh-keys"`
	// ExtraSpecs is the JSON value that the pool carries for its provider, unread by the server.
	ExtraSpecs  json.RawMessage `json:"extra_specs,omitempty"`
	RunnerGroup string          `json:"github-runner-group"`
	// CACertBundle holds PEM certificates that the machine has to trust.
	CACertBundle []byte `json:"ca-cert-bundle"`
	// OSArch is "amd64", "arm64" or "arm"; OSType is "linux" or "windows".
	OSArch string `json:"arch"`
	OSType string `json:"os_type"`
	Flavor string `json:"flavor"`
	Image  string `json:"image"`
	// Labels are those of the runner. They are empty where JITConfigEnabled is set.
	Labels          []string        `json:"labels"`
	PoolID          string          `json:"pool_id"`
	UserDataOptions UserDataOptions `json:"user_data_options"`
	// JITConfigEnabled says that the runner's credentials are ready at the metadata URL, so that the machine does not
	// ask for a registration token.
	JITConfigEnabled bool `json:"jit_config_enabled"`
}

// Tool is a runner program for one platform, in the forge's words: OS is "linux", "win" or "osx", Architecture "x64",
// "arm64" or "arm".
type Tool struct {
	OS                string `json:"os"`
	Architecture      string `json:"architecture"`
	DownloadURL       string `json:"download_url"`
	Filename          string `json:"filename"`
	TempDownloadToken Secret `json:"temp_download_token"`
	SHA256Checksum    string `json:"sha256_checksum"`
}

// UserDataOptions adjust the script that a machine runs at its first boot.
type UserDataOptions struct {
	DisableUpdatesOnBoot bool     `json:"disable_updates_on_boot"`
	ExtraPackages        []string `json:"extra_packages"`
	EnableBootDebug      bool     `json:"enable_boot_debug"`
}

// DecodeBootstrap reads what a server writes to the standard input of CreateInstance. Unknown keys are ignored, absent
// extra specs are the empty object. It fails on what no provider could work with, naming the key.
func DecodeBootstrap(data []byte) (BootstrapInstance, error) {
	var b BootstrapInstance
	if len(bytes.TrimSpace(data)) == 0 {
		return BootstrapInstance{}, errors.New("bootstrap data on standard input is empty")
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return BootstrapInstance{}, fmt.Errorf("decoding bootstrap data: %w", describe(err))
	}
	if len(b.ExtraSpecs) == 0 || string(b.ExtraSpecs) == "null" {
		b.ExtraSpecs = json.RawMessage("{}")
	}
	for _, field := range []struct{ key, value string }{
		{"name", b.Name}, {"pool_id", b.PoolID},
	} {
		if field.value == "" {
			return BootstrapInstance{}, fmt.Errorf("bootstrap data has no %s", field.key)
		}
	}
	return b, nil
}

// describe keeps values of the input, which may be secrets, out of the error text.
func describe(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s has the wrong JSON type", wrong.Field)
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("not valid JSON near byte %d", syntax.Offset)
	}
	return errors.New("not the JSON value that is due")
}
