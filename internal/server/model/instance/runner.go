package instance

import (
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// runnerTable lists every legal change of the runner state. A job can start before the callback that says idle, so
// active is reached from everywhere before it; a late callback cannot take it back.
var runnerTable = table[model.RunnerStatus]{
	{model.RunnerPending, model.RunnerInstalling}: {Runner},
	{model.RunnerPending, model.RunnerIdle}:       {Runner, Forge},
	{model.RunnerPending, model.RunnerFailed}:     {Runner, Engine},
	{model.RunnerPending, model.RunnerActive}:     {Forge, Runner},
	{model.RunnerPending, model.RunnerTerminated}: {Forge, Runner},

	{model.RunnerInstalling, model.RunnerIdle}:       {Runner, Forge},
	{model.RunnerInstalling, model.RunnerFailed}:     {Runner, Engine},
	{model.RunnerInstalling, model.RunnerActive}:     {Forge, Runner},
	{model.RunnerInstalling, model.RunnerOffline}:    {Forge, Runner},
	{model.RunnerInstalling, model.RunnerTerminated}: {Forge, Runner},

	{model.RunnerIdle, model.RunnerActive}:     {Forge, Runner},
	{model.RunnerIdle, model.RunnerOffline}:    {Forge, Runner},
	{model.RunnerIdle, model.RunnerFailed}:     {Runner, Engine},
	{model.RunnerIdle, model.RunnerTerminated}: {Forge, Runner},

	{model.RunnerOffline, model.RunnerIdle}:       {Forge, Runner},
	{model.RunnerOffline, model.RunnerActive}:     {Forge, Runner},
	{model.RunnerOffline, model.RunnerTerminated}: {Forge, Runner},

	{model.RunnerActive, model.RunnerTerminated}: {Forge, Runner},

	{model.RunnerFailed, model.RunnerTerminated}: {Forge, Runner},
	// The engine takes a runner back to its beginning when it tries a create again.
	{model.RunnerFailed, model.RunnerPending}:     {Engine},
	{model.RunnerInstalling, model.RunnerPending}: {Engine},
	{model.RunnerOffline, model.RunnerPending}:    {Engine},
}

// CheckRunner says whether by may change the runner state. Staying where one is, is always legal. The error is of kind
// model.KindInvalid.
func CheckRunner(by Actor, from, to model.RunnerStatus) error {
	if runnerTable.allows(by, from, to) {
		return nil
	}
	return model.Invalid("a runner in status %s cannot become %s", from, to)
}

// SetRunner changes the runner state of i for by, or returns the error of CheckRunner and changes nothing.
func SetRunner(i *model.Instance, by Actor, to model.RunnerStatus) error {
	if err := CheckRunner(by, i.RunnerStatus, to); err != nil {
		return err
	}
	i.RunnerStatus = to
	return nil
}
