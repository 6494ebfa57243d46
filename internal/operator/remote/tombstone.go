package remote

const maxTombstones = 8192

// tombstones remember which ids are gone, and since when, so that what comes late does not bring them back. Beyond a
// number the oldest are forgotten; the next list then sets right what they would have kept out.
type tombstones struct {
	gone  map[string]uint64
	order []tombstone
}

type tombstone struct {
	id  string
	seq uint64
}

func (t *tombstones) add(id string, seq uint64) {
	if t.gone == nil {
		t.gone = map[string]uint64{}
	}
	t.gone[id] = seq
	t.order = append(t.order, tombstone{id, seq})
	for len(t.order) > maxTombstones {
		oldest := t.order[0]
		t.order = t.order[1:]
		if t.gone[oldest.id] == oldest.seq {
			delete(t.gone, oldest.id)
		}
	}
}

func (t *tombstones) has(id string) bool {
	_, ok := t.gone[id]
	return ok
}

// after says whether id was found gone after a reading of the clock.
func (t *tombstones) after(id string, seq uint64) bool { return t.gone[id] > seq }

func (t *tombstones) drop(id string) { delete(t.gone, id) }
