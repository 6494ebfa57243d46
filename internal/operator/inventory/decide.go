package inventory

import (
	"github.com/garm-operator/garm-operator/garm"
)

// facts are what a decision about one Runner object needs to know.
type facts struct {
	// mirror says that runners are shown.
	mirror bool
	// deleting and held say that a user has deleted the object, and that the finalizer is there.
	deleting, held bool
	// ready says that the server can be asked, known that its instances were listed.
	ready, known bool
	// foreign says that the object is of another GARM controller than the one that answers.
	foreign bool
	// present says that the instance is in the view, gone that the server has said that it is not there.
	present, gone bool
	// placed says that the object is where the instance's Pool is, under the right name.
	placed bool
}

// verdict is what becomes of a Runner object.
type verdict int

const (
	// leave: nothing to do, or nothing known.
	leave verdict = iota
	// show: keep the object in step with the instance.
	show
	// drop: the object goes, whatever there is at the server stays.
	drop
	// free: the object is being deleted and may go; whatever there is at the server stays.
	free
	// confirm: only the server can tell whether the instance is gone.
	confirm
	// remove: the user wants the instance gone.
	remove
	// await: the user wants the instance gone, and the server cannot be asked.
	await
)

// decide says what becomes of a Runner object. An instance is only ever removed for a user who has deleted the very
// object that shows it: an object elsewhere, though of the same name, removes nothing.
func decide(f facts) verdict {
	if f.deleting && !f.held {
		return leave
	}
	over := drop
	if f.deleting {
		over = free
	}
	switch {
	case !f.mirror:
		return over
	case !f.known:
		return unknown(f)
	case f.foreign:
		return over
	case f.present && !f.placed:
		return over
	case f.present && f.deleting && f.ready:
		return remove
	case f.present && f.deleting:
		return await
	case f.present:
		return show
	case f.gone:
		return over
	case !f.ready:
		return unknown(f)
	default:
		return confirm
	}
}

func unknown(f facts) verdict {
	if f.deleting {
		return await
	}
	return leave
}

// removal is how far the removal of an instance can go.
type removal int

const (
	// request: the server can be asked to remove the instance.
	request removal = iota
	// busy: it runs a job, which is cut short by force only.
	busy
	// starting: the server refuses to remove an instance whose machine is being made.
	starting
	// leaving: it is being removed.
	leaving
)

// removalOf says how far the removal of an instance can go. Force may cut a job short, and may be asked for where a
// removal without it is under way.
func removalOf(i garm.Instance, force bool) removal {
	switch i.Status {
	case garm.InstancePendingForceDelete, garm.InstanceDeleting, garm.InstanceDeleted:
		return leaving
	case garm.InstancePendingDelete:
		if !force {
			return leaving
		}
	case garm.InstancePendingCreate, garm.InstanceCreating:
		return starting
	}
	if i.RunnerStatus == garm.RunnerActive && !force {
		return busy
	}
	return request
}
