package garm

// Version is the release that clients are told, by which they choose what to send; docs/compatibility.md says why it is
// of the v0.1 line. Builds set it with -ldflags "-X".
var Version = "v0.1.8"
