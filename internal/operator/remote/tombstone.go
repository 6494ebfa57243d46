package remote

const maxTombstones = 8192

// tombstones remember which ids are gone, and since when, so that what comes late does not bring them back. Beyond a
// number the oldest are forgotten; the next list then sets right what they would have kept out.
type tombstones struct {
	gone  map[string]grave
	order []tombstone
}

type grave struct {
	seq uint64
	// told says that the server itself has said so; else the id was only missing from a list.
	told bool
}

type tombstone struct {
	id  string
	seq uint64
}

func (t *tombstones) add(id string, seq uint64, told bool) {
	if t.gone == nil {
		t.gone = map[string]grave{}
	}
	t.gone[id] = grave{seq: seq, told: told}
	t.order = append(t.order, tombstone{id, seq})
	for len(t.order) > maxTombstones {
		oldest := t.order[0]
		t.order = t.order[1:]
		if t.gone[oldest.id].seq == oldest.seq {
			delete(t.gone, oldest.id)
		}
	}
}

func (t *tombstones) has(id string) bool {
	_, ok := t.gone[id]
	return ok
}

// told says whether the server itself has said that id is gone.
func (t *tombstones) told(id string) bool { return t.gone[id].told }

// after says whether id was found gone after a reading of the clock.
func (t *tombstones) after(id string, seq uint64) bool { return t.gone[id].seq > seq }

func (t *tombstones) drop(id string) { delete(t.gone, id) }
