package demo

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Run runs the demo. It returns nil only if every step was seen to happen and everything was stopped and removed again.
func Run(ctx context.Context, options Options) (err error) {
	options.setDefaults()
	out := &console{out: options.Out, start: time.Now(), timeout: options.StepTimeout}
	world := &world{options: options}
	defer func() {
		if err != nil && !errors.Is(err, context.Canceled) {
			world.explain(options.Out)
		}
		stopped := world.stop()
		if stopped != nil {
			out.line("FAILED  stopping: %v", stopped)
		}
		err = errors.Join(err, stopped)
		if err == nil && options.Once {
			fmt.Fprintf(options.Out, "demo: ok (%s)\n", world.summary)
		}
	}()

	for _, step := range world.steps(out) {
		if err := out.step(ctx, step.title, step.run); err != nil {
			return err
		}
	}
	world.summary = fmt.Sprintf("first idle runner after %.1fs, %d jobs on %d runners, %.1fs in all",
		world.firstIdle.Sub(out.start).Seconds(), len(world.jobs), len(world.served), time.Since(out.start).Seconds())
	if options.Once {
		return nil
	}
	world.invite(options.Out)
	select {
	case <-ctx.Done():
		return nil
	case name := <-world.ended():
		return fmt.Errorf("%s ended by itself", name)
	}
}

// step is one thing that has to be seen.
type step struct {
	title string
	run   func(context.Context) (string, error)
}

func (w *world) steps(out *console) []step {
	tables := func(ctx context.Context) (string, error) { return "", w.showTables(ctx, out) }
	up := []step{
		{"Kubernetes API server is up", w.startControlPlane},
		{"GitHub simulator is up", w.startGitHub},
	}
	if w.options.Embedded {
		up = append(up, step{"operator is up, with a GARM server in its process", w.startOperator})
	} else {
		up = append(up, step{"GARM server is up", w.startGARM}, step{"operator is up", w.startOperator})
	}
	return append(up, []step{
		{"quickstart manifests are applied", w.applyManifests},
		{"all resources are Ready", w.waitReady},
		{"first runner is idle", w.waitFirstIdle},
		{"pools have their idle runners", w.waitPoolsFull},
		{"API server, GARM and GitHub show the same runners", w.compareSides},
		{"pools and runners as kubectl shows them", tables},
		{"webhooks are installed at GitHub", w.installHooks},
		{"jobs are queued", w.queueJobs},
		{"jobs are done, each on a runner of its own", func(ctx context.Context) (string, error) { return w.waitJobs(ctx, out) }},
		{"used runners are gone and replaced", w.waitReplaced},
		{"all resources are still Ready", w.waitReady},
		{"nothing failed on the way", w.findFaults},
		{"API server, GARM and GitHub show the same runners", w.compareSides},
		{"pools and runners as kubectl shows them", tables},
	}...)
}
