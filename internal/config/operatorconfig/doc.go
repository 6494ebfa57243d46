// Package operatorconfig is the configuration of garm-operator: one struct, validated whole, read from defaults,
// environment, flags and a file. The order in which a later source wins is that of the known operator, which users
// rely on: default, environment, explicitly set flag, file.
package operatorconfig
