package rest

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/garm-operator/garm-operator/garm"
)

// filter says which events a client wants. A nil filter selects none.
type filter struct {
	everything bool
	wanted     map[garm.EntityType][]garm.Operation
}

var errFilter = errors.New("the filter is not valid")

// knownTypes are the kinds of object that a client may name, those of later releases included.
var knownTypes = []garm.EntityType{
	garm.EntityTypeRepository, garm.EntityTypeOrganization, garm.EntityTypeEnterprise, garm.EntityTypePool, garm.EntityTypeUser,
	garm.EntityTypeInstance, garm.EntityTypeJob, garm.EntityTypeController, garm.EntityTypeCredentials, garm.EntityTypeEndpoint,
	"gitea_credentials", "scaleset", "template", "file_object",
}

var knownOperations = []garm.Operation{garm.OperationCreate, garm.OperationUpdate, garm.OperationDelete}

// parseFilter reads a client's frame. One that names nothing is no error and selects nothing: the client is then
// ignored, and ok is false.
func parseFilter(frame []byte) (f *filter, ok bool, err error) {
	var wire garm.EventFilter
	if err := json.Unmarshal(frame, &wire); err != nil {
		return nil, false, errFilter
	}
	f = &filter{everything: wire.SendEverything, wanted: map[garm.EntityType][]garm.Operation{}}
	for _, clause := range wire.Filters {
		if !slices.Contains(knownTypes, clause.EntityType) {
			return nil, false, errFilter
		}
		operations := clause.Operations
		if len(operations) == 0 {
			operations = knownOperations
		}
		for _, op := range operations {
			if !slices.Contains(knownOperations, op) {
				return nil, false, errFilter
			}
		}
		f.wanted[clause.EntityType] = append(f.wanted[clause.EntityType], operations...)
	}
	return f, f.everything || len(wire.Filters) > 0, nil
}

func (f *filter) selects(kind garm.EntityType, op garm.Operation) bool {
	return f != nil && (f.everything || slices.Contains(f.wanted[kind], op))
}
