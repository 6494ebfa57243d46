package runner

import (
	"os"
	"runtime"
	"strings"

	"github.com/garm-operator/garm-operator/garm"
)

// systemInfo is the name and version of the operating system, where it says so.
func systemInfo() garm.SystemInfo {
	data, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return garm.SystemInfo{OSName: runtime.GOOS}
	}
	return parseOSRelease(string(data))
}

func parseOSRelease(text string) garm.SystemInfo {
	info := garm.SystemInfo{OSName: runtime.GOOS}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		value = strings.Trim(value, `"'`)
		switch key {
		case "NAME":
			info.OSName = value
		case "VERSION_ID":
			info.OSVersion = value
		}
	}
	return info
}
