// Command reference writes the parts of docs/ that the code decides: the settings of garm-operator, and the fields of each
// kind. "make generate" runs it from the top of the repository.
package main
