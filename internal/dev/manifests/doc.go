// Package manifests renders what users install, with the tools that they use, and reads out of it how the operator's Pod
// would be started, so that tests run the program exactly as the manifests say.
package manifests
