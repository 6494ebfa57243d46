// Package events passes committed changes on to those who follow them: in order, and never with a silent gap. A reader
// that falls too far behind is ended, so that it reads everything anew.
package events
