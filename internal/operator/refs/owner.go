package refs

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Oldest returns which of several resources owns what all of them stand for: the one that was created first, by UID where
// the times are equal. It returns the zero value of none.
func Oldest[O client.Object](all []O) (oldest O) {
	for i, obj := range all {
		if i == 0 || older(obj, oldest) {
			oldest = obj
		}
	}
	return oldest
}

func older(a, b client.Object) bool {
	at, bt := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	if !at.Equal(&bt) {
		return at.Before(&bt)
	}
	return a.GetUID() < b.GetUID()
}
