package mirror

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

func TestWritten(t *testing.T) {
	var w Written[string]
	start := time.Unix(0, 0)
	if got := w.Lag("a", "5", start); got != 0 {
		t.Errorf("nothing was written, wait %s", got)
	}
	w.Note("a", "9", start)
	if got := w.Lag("a", "5", start); got != cacheLag {
		t.Errorf("the cache is behind, wait %s", got)
	}
	w.Note("a", "9", start.Add(time.Second)) // noted again, written once
	if got := w.Lag("a", "5", start.Add(8*time.Second)); got != time.Second {
		t.Errorf("the cache is behind for 8 s, wait %s", got)
	}
	if got := w.Lag("a", "10", start.Add(9*time.Second)); got != 0 || len(w.all) != 0 {
		t.Errorf("the cache has caught up, wait %s, %v", got, w.all)
	}
}

// An API server that was restored from a backup shows older versions than were written, and never again newer ones.
func TestWrittenBeforeARestore(t *testing.T) {
	var w Written[string]
	start, waited := time.Unix(0, 0), time.Duration(0)
	w.Note("a", "9000", start)
	looks := 0
	for {
		rest := w.Lag("a", "17", start.Add(waited))
		if rest == 0 {
			break
		}
		waited += rest
		looks++
	}
	if waited < longestLag || waited > 2*longestLag || looks > 100 {
		t.Errorf("believed after %s and %d looks", waited, looks)
	}
}

func TestStuckFields(t *testing.T) {
	var s stuckFields
	pool := func(generation int64) client.Object {
		return &v1beta1.Pool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "1", Generation: generation}}
	}
	fields := []string{"imageName", "flavor"}
	s.set(pool(1), "image:1", fields)
	other := pool(1)
	other.SetUID("2")
	for name, c := range map[string]struct {
		obj    client.Object
		inputs string
		fields []string
		want   bool
	}{
		"the same":            {pool(1), "image:1", fields, true},
		"another spec":        {pool(2), "image:1", fields, false},
		"another image tag":   {pool(1), "image:2", fields, false},
		"other fields":        {pool(1), "image:1", fields[:1], false},
		"made anew":           {other, "image:1", fields, false},
		"another of its kind": {&v1beta1.Pool{}, "image:1", fields, false},
	} {
		if got := s.same(c.obj, c.inputs, c.fields); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	s.forget(client.ObjectKeyFromObject(pool(1)))
	if len(s.known) != 0 {
		t.Errorf("what is gone is remembered: %v", s.known)
	}
}

// OP-12: the presence of a flag counts, whatever its value but "false".
func TestFlags(t *testing.T) {
	for value, want := range map[string]bool{"": true, "true": true, "no": true, "false": false, " False ": false} {
		paused := &v1beta1.Pool{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1beta1.AnnotationPaused: value}}}
		forced := &v1beta1.Pool{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1beta1.AnnotationForceDelete: value}}}
		if Paused(paused) != want || Forced(forced) != want || Paused(forced) || Forced(paused) {
			t.Errorf("%q: paused %t, forced %t", value, Paused(paused), Forced(forced))
		}
	}
	if Paused(&v1beta1.Pool{}) || Forced(&v1beta1.Pool{}) {
		t.Error("no flag is taken for one")
	}
}
