// Package arch checks what the compiler does not: who imports whom, how packages are named, and that the documents keep up
// with the code. Its rules are those of docs/adr/0001-architecture.md.
package arch
