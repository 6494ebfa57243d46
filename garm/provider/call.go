package provider

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Call describes one operation, as the environment of the provider program says it.
type Call struct {
	Command      Command
	Version      Version
	ControllerID string
	// ConfigFile is the path of the provider's own configuration, empty where the server has none for it.
	ConfigFile string
	// PoolID is set for CreateInstance and ListInstances; from Version011 on for every command on a machine.
	PoolID string
	// InstanceID is the provider id of the machine, or its name where the server does not know the id.
	InstanceID string
	// ExtraSpecs are those of the pool, set from Version011 on.
	ExtraSpecs json.RawMessage
}

// Environ renders the call as environment entries of the form NAME=value. What the interface version of the call does
// not know is left out.
func (c Call) Environ() []string {
	env := []string{
		EnvCommand + "=" + string(c.Command),
		EnvControllerID + "=" + c.ControllerID,
		EnvConfigFile + "=" + c.ConfigFile,
	}
	newer := c.Version == Version011
	if newer {
		env = append(env, EnvInterfaceVersion+"="+string(c.Version))
	}
	if c.Command.onPool() || newer && c.Command.onMachines() && c.PoolID != "" {
		env = append(env, EnvPoolID+"="+c.PoolID)
	}
	if c.Command.onInstance() {
		env = append(env, EnvInstanceID+"="+c.InstanceID)
	}
	if newer && len(c.ExtraSpecs) > 0 {
		env = append(env, EnvExtraSpecs+"="+base64.StdEncoding.EncodeToString(c.ExtraSpecs))
	}
	return env
}

// ParseCall reads a call from the environment and checks that it is complete. Errors name the variable.
func ParseCall(getenv func(string) string) (Call, error) {
	c := Call{
		Command:      Command(getenv(EnvCommand)),
		Version:      Version(getenv(EnvInterfaceVersion)),
		ControllerID: getenv(EnvControllerID),
		ConfigFile:   getenv(EnvConfigFile),
		PoolID:       getenv(EnvPoolID),
		InstanceID:   getenv(EnvInstanceID),
	}
	if c.Version == "" {
		c.Version = Version010
	}
	if !slices.Contains(Versions(), c.Version) {
		return Call{}, fmt.Errorf("%s: interface version %q is not supported, only %q", EnvInterfaceVersion, c.Version, Versions())
	}
	if c.Command == "" {
		return Call{}, fmt.Errorf("%s is not set", EnvCommand)
	}
	if !c.Command.known() {
		return Call{}, fmt.Errorf("%s: unknown command %q", EnvCommand, c.Command)
	}
	if encoded := getenv(EnvExtraSpecs); encoded != "" {
		specs, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return Call{}, fmt.Errorf("%s is not base64", EnvExtraSpecs)
		}
		if !json.Valid(specs) {
			return Call{}, fmt.Errorf("%s is not the base64 of JSON", EnvExtraSpecs)
		}
		c.ExtraSpecs = specs
	}
	return c, c.complete()
}

func (c Call) complete() error {
	var missing []error
	need := func(needed bool, name, value string) {
		if needed && value == "" {
			missing = append(missing, fmt.Errorf("%s is not set, but %s needs it", name, c.Command))
		}
	}
	newer := c.Version == Version011
	need(c.Command.onMachines(), EnvControllerID, c.ControllerID)
	need(c.Command.onMachines() && newer, EnvConfigFile, c.ConfigFile)
	need(c.Command.onPool() || c.Command.onInstance() && newer, EnvPoolID, c.PoolID)
	need(c.Command.onInstance(), EnvInstanceID, c.InstanceID)
	return errors.Join(missing...)
}
