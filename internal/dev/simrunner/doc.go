// Package simrunner is a GitHub Actions runner that only pretends to work: it registers at the GitHub simulator,
// connects, takes a job, waits for as long as the job says, and reports the end. What it prints and the files it keeps
// look like the real runner's, so that the program which starts it cannot tell.
package simrunner
