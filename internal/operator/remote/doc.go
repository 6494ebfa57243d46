// Package remote is the GARM informer: what client-go's informers are for Kubernetes, for one GARM server.
//
// A Session connects to the server, survives its absence and recognises when another database answers under the same
// address. It keeps the server's objects in memory: it subscribes to the event stream, lists, and lists again at long
// intervals, more often where no events can be had. Reconcilers read from a View, at no cost, and write through the
// View's Writer, whose results are visible in the View at once. Subscriptions tell which objects to look at again.
//
// Everything a View shows is bound to one Identity, that is a server and the controller id of its database. When the
// controller id changes, old Views stop: their listers know nothing and their writers refuse.
//
// Absence from a View is a suspicion, not a fact: before a create takes the place of a recorded object, or a finalizer
// goes, View.ConfirmGone asks the server.
package remote
