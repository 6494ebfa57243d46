package provider

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Status is the state of a machine, as far as a provider may say it. All other states of an instance, such as
// pending_create, belong to the server.
type Status string

// Machine states.
const (
	StatusRunning Status = "running"
	StatusStopped Status = "stopped"
	StatusError   Status = "error"
	StatusUnknown Status = "unknown"
)

// Instance is a provider's answer about a machine.
type Instance struct {
	// ProviderID is what the provider calls the machine, such as a name or a UUID. It must not change.
	ProviderID string    `json:"provider_id"`
	Name       string    `json:"name"`
	OSType     string    `json:"os_type"`
	OSName     string    `json:"os_name"`
	OSVersion  string    `json:"os_version"`
	OSArch     string    `json:"os_arch"`
	Addresses  []Address `json:"addresses"`
	Status     Status    `json:"status"`
	// ProviderFault says for people why Status is StatusError.
	ProviderFault []byte `json:"provider_fault,omitempty"`
}

// Address is a network address of a machine. Type is "public" or "private".
type Address struct {
	Address string `json:"address"`
	Type    string `json:"type"`
}

// ErrBadAnswer marks an answer that breaks the protocol, although the program said that it succeeded.
var ErrBadAnswer = errors.New("provider broke the protocol")

// Validate says what makes an answer unusable: no provider id, no name, or a status that is not for a provider to give.
// The error wraps ErrBadAnswer.
func (i Instance) Validate() error {
	switch {
	case i.ProviderID == "":
		return fmt.Errorf("%w: provider_id is empty", ErrBadAnswer)
	case i.Name == "":
		return fmt.Errorf("%w: name is empty", ErrBadAnswer)
	}
	switch i.Status {
	case StatusRunning, StatusStopped, StatusError, StatusUnknown:
		return nil
	}
	return fmt.Errorf("%w: invalid status returned (%.64q): a provider may answer running, stopped, error or unknown", ErrBadAnswer, string(i.Status))
}

// DecodeInstance reads the answer to CreateInstance and GetInstance and validates it. Unknown keys are ignored. Errors
// wrap ErrBadAnswer.
func DecodeInstance(data []byte) (Instance, error) {
	var i Instance
	if err := json.Unmarshal(data, &i); err != nil {
		return Instance{}, fmt.Errorf("%w: decoding the instance: %w", ErrBadAnswer, describe(err))
	}
	if err := i.Validate(); err != nil {
		return Instance{}, err
	}
	return i, nil
}

// DecodeInstances reads the answer to ListInstances; null is an empty list. One invalid element makes the whole answer
// unusable, since what is missing from a list is taken to be gone. Errors wrap ErrBadAnswer.
func DecodeInstances(data []byte) ([]Instance, error) {
	var list []Instance
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%w: decoding the list of instances: %w", ErrBadAnswer, describe(err))
	}
	for n, i := range list {
		if err := i.Validate(); err != nil {
			return nil, fmt.Errorf("instance %d of the list: %w", n, err)
		}
	}
	return list, nil
}
