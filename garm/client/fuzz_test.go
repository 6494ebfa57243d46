package client_test

import (
	"encoding/json"
	"testing"

	"github.com/garm-operator/garm-operator/garm"
)

// FuzzAnswer has the client read anything as the answer of a call: what is no success is an error with a kind, and a
// success is an object that has an id.
func FuzzAnswer(f *testing.F) {
	f.Add(200, `{"id":"p","tags":null,"extra_specs":{"a":1}}`)
	f.Add(404, `{"error":"Not Found","details":""}`)
	f.Add(502, `<html>`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 {
			return
		}
		s := newStub()
		s.handle = text(status, body)
		pool, err := clientOf(t, s).GetPool(t.Context(), "p")
		if (err == nil) != (pool.ID != "") {
			t.Errorf("status %d, pool %q, error %v", status, pool.ID, err)
		}
		if err == nil && (status > 299 || !json.Valid([]byte(body))) {
			t.Errorf("status %d with %q passes for a pool", status, body)
		}
		if garm.IsNotFound(err) && (status != 404 || !json.Valid([]byte(body))) {
			t.Errorf("status %d with %q passes for GARM's word that the pool is gone", status, body)
		}
	})
}
