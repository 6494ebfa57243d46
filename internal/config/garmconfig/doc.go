// Package garmconfig is the configuration of the garm server: the known TOML file, validated whole.
package garmconfig
