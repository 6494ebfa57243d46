package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Errors that a Provider returns for the two failures that have an exit code of their own.
var (
	ErrNotFound  = errors.New("instance not found")
	ErrDuplicate = errors.New("instance exists already")
)

// maxBootstrap bounds what is read from standard input. Real values are a few KiB, with CA bundles up to some hundred.
const maxBootstrap = 8 << 20

// Provider makes, finds and removes machines. An id is the provider's own or the name of a machine: a server that never
// got the answer to a create knows only the name.
type Provider interface {
	// CreateInstance makes a machine. It should tag it with the controller id and the pool id, so that it is found
	// again. A repeated call for the same name should find the machine of the first one, or return ErrDuplicate.
	CreateInstance(ctx context.Context, b BootstrapInstance) (Instance, error)
	// DeleteInstance removes a machine and all that belongs to it. ErrNotFound counts as success.
	DeleteInstance(ctx context.Context, id string) error
	// GetInstance returns a machine, or ErrNotFound.
	GetInstance(ctx context.Context, id string) (Instance, error)
	// ListInstances returns the machines of a pool.
	ListInstances(ctx context.Context, poolID string) ([]Instance, error)
	StartInstance(ctx context.Context, id string) error
	StopInstance(ctx context.Context, id string) error
	// RemoveAllInstances removes every machine of the controller that the call names, in all pools.
	RemoveAllInstances(ctx context.Context) error
	// Version is the version of the provider program.
	Version() string
}

// PoolValidator is a Provider that can say beforehand whether it could serve a pool.
type PoolValidator interface {
	ValidatePoolInfo(ctx context.Context, extraSpecs json.RawMessage) error
}

// SchemaProvider is a Provider that publishes JSON schemas of its configuration and of the extra specs it reads.
type SchemaProvider interface {
	ConfigJSONSchema() json.RawMessage
	ExtraSpecsJSONSchema() json.RawMessage
}

// Serve runs the one call that the environment describes and returns the exit code of the program. open makes the
// provider of the call, which carries the configuration file and the controller id. The answer goes to stdout, only on
// success; the reason of a failure goes to stderr, which GARM shows to its users.
func Serve(ctx context.Context, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer, open func(Call) (Provider, error)) int {
	answer, err := serve(ctx, getenv, stdin, open)
	if err == nil {
		_, err = stdout.Write(answer)
	}
	if err == nil {
		return ExitOK
	}
	_, _ = fmt.Fprintln(stderr, err)
	switch {
	case errors.Is(err, ErrNotFound):
		return ExitNotFound
	case errors.Is(err, ErrDuplicate):
		return ExitDuplicate
	}
	return ExitFailure
}

func serve(ctx context.Context, getenv func(string) string, stdin io.Reader, open func(Call) (Provider, error)) ([]byte, error) {
	call, err := ParseCall(getenv)
	if err != nil {
		return nil, err
	}
	p, err := open(call)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", call.Command, err)
	}
	answer, err := dispatch(ctx, p, call, stdin)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", call.Command, err)
	}
	return answer, nil
}

func dispatch(ctx context.Context, p Provider, call Call, stdin io.Reader) ([]byte, error) {
	switch call.Command {
	case CreateInstance:
		b, err := readBootstrap(call, stdin)
		if err != nil {
			return nil, err
		}
		return render(p.CreateInstance(ctx, b))
	case GetInstance:
		return render(p.GetInstance(ctx, call.InstanceID))
	case ListInstances:
		list, err := p.ListInstances(ctx, call.PoolID)
		if list == nil {
			list = []Instance{}
		}
		return render(list, err)
	case DeleteInstance:
		return nil, p.DeleteInstance(ctx, call.InstanceID)
	case StartInstance:
		return nil, p.StartInstance(ctx, call.InstanceID)
	case StopInstance:
		return nil, p.StopInstance(ctx, call.InstanceID)
	case RemoveAllInstances:
		return nil, p.RemoveAllInstances(ctx)
	}
	return about(ctx, p, call)
}

// about answers the commands that are about the provider program.
func about(ctx context.Context, p Provider, call Call) ([]byte, error) {
	switch call.Command {
	case GetVersion:
		return []byte(p.Version() + "\n"), nil
	case GetSupportedInterfaceVersions:
		return render(Versions(), nil)
	case ValidatePoolInfo:
		if v, ok := p.(PoolValidator); ok {
			return nil, v.ValidatePoolInfo(ctx, call.ExtraSpecs)
		}
		return nil, nil
	case GetConfigJSONSchema:
		if s, ok := p.(SchemaProvider); ok {
			return s.ConfigJSONSchema(), nil
		}
	case GetExtraSpecsJSONSchema:
		if s, ok := p.(SchemaProvider); ok {
			return s.ExtraSpecsJSONSchema(), nil
		}
	}
	return nil, errors.New("not supported by this provider")
}

func readBootstrap(call Call, stdin io.Reader) (BootstrapInstance, error) {
	data, err := io.ReadAll(io.LimitReader(stdin, maxBootstrap+1))
	if err != nil {
		return BootstrapInstance{}, fmt.Errorf("reading bootstrap data: %w", err)
	}
	if len(data) > maxBootstrap {
		return BootstrapInstance{}, fmt.Errorf("bootstrap data is larger than %d bytes", maxBootstrap)
	}
	b, err := DecodeBootstrap(data)
	if err != nil {
		return BootstrapInstance{}, err
	}
	if b.PoolID != call.PoolID {
		return BootstrapInstance{}, fmt.Errorf("bootstrap data is for pool %q, but %s is %q", b.PoolID, EnvPoolID, call.PoolID)
	}
	return b, nil
}

func render[T any](value T, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return json.Marshal(value)
}
