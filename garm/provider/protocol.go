package provider

// Command names an operation.
type Command string

// Commands of interface v0.1.0.
const (
	CreateInstance     Command = "CreateInstance"
	DeleteInstance     Command = "DeleteInstance"
	GetInstance        Command = "GetInstance"
	ListInstances      Command = "ListInstances"
	StartInstance      Command = "StartInstance"
	StopInstance       Command = "StopInstance"
	RemoveAllInstances Command = "RemoveAllInstances"
	GetVersion         Command = "GetVersion"
)

// Commands that interface v0.1.1 adds. They are about the provider, not about a machine.
const (
	GetSupportedInterfaceVersions Command = "GetSupportedInterfaceVersions"
	ValidatePoolInfo              Command = "ValidatePoolInfo"
	GetConfigJSONSchema           Command = "GetConfigJSONSchema"
	GetExtraSpecsJSONSchema       Command = "GetExtraSpecsJSONSchema"
)

// Environment variables by which a call is described.
const (
	EnvCommand          = "GARM_COMMAND"
	EnvControllerID     = "GARM_CONTROLLER_ID"
	EnvConfigFile       = "GARM_PROVIDER_CONFIG_FILE"
	EnvPoolID           = "GARM_POOL_ID"
	EnvInstanceID       = "GARM_INSTANCE_ID"
	EnvInterfaceVersion = "GARM_INTERFACE_VERSION"
	EnvExtraSpecs       = "GARM_POOL_EXTRASPECS"
)

// Exit codes of a provider program. Any other code is a failure like ExitFailure.
const (
	ExitOK        = 0
	ExitFailure   = 1
	ExitNotFound  = 30
	ExitDuplicate = 31
)

// Version is a version of the interface between GARM and its providers.
type Version string

// Interface versions. A call that names none is of Version010.
const (
	Version010 Version = "v0.1.0"
	Version011 Version = "v0.1.1"
)

// Versions are the interface versions that this package speaks.
func Versions() []Version { return []Version{Version010, Version011} }

// onInstance says that a command is about the one machine that GARM_INSTANCE_ID names.
func (c Command) onInstance() bool {
	switch c {
	case DeleteInstance, GetInstance, StartInstance, StopInstance:
		return true
	}
	return false
}

// onPool says that a command is about the machines of one pool whatever the interface version.
func (c Command) onPool() bool { return c == CreateInstance || c == ListInstances }

// onMachines says that a command is about machines rather than about the provider program.
func (c Command) onMachines() bool { return c.onInstance() || c.onPool() || c == RemoveAllInstances }

func (c Command) known() bool {
	switch c {
	case GetVersion, GetSupportedInterfaceVersions, ValidatePoolInfo, GetConfigJSONSchema, GetExtraSpecsJSONSchema:
		return true
	}
	return c.onMachines()
}
