package pool

import (
	"strconv"
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

// revision identifies the state of a pool as the server counts it: by generations, which all that concerns the runners
// raises, else by the time of the last change. It is empty where the server counts nothing. Servers on some databases
// show a time less exactly later than at first.
func revision(p *garm.Pool) string {
	switch {
	case p.Generation > 0:
		return "generation " + strconv.FormatUint(p.Generation, 10)
	case !p.UpdatedAt.IsZero():
		return "changed " + p.UpdatedAt.UTC().Truncate(time.Millisecond).Format("2006-01-02T15:04:05.000Z")
	default:
		return ""
	}
}

// changedSince says whether a pool has changed since a revision, as far as both are known.
func changedSince(recorded string, p *garm.Pool) bool {
	now := revision(p)
	return recorded != "" && now != "" && recorded != now
}
