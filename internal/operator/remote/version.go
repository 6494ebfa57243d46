package remote

import (
	"fmt"

	"github.com/blang/semver/v4"
)

// MinimumVersion is the oldest release of GARM that can be used.
const MinimumVersion = "v0.1.5"

var minimumVersion = semver.MustParse(MinimumVersion[1:])

// checkVersion refuses servers older than MinimumVersion. Pre-release and development builds count as the release they
// lead to; a version that is no semantic version is taken for a development build, with a warning.
func checkVersion(version string) (warning string, err error) {
	v, err := semver.ParseTolerant(version)
	return checkParsed(version, v, err == nil)
}

func checkParsed(version string, v semver.Version, readable bool) (warning string, err error) {
	if !readable {
		return fmt.Sprintf("GARM's version %q is not a semantic version; it is taken for a build newer than %s", version, MinimumVersion), nil
	}
	v.Pre, v.Build = nil, nil
	if v.LT(minimumVersion) {
		return "", fmt.Errorf("GARM %s is too old: upgrade it to %s or later", version, MinimumVersion)
	}
	return "", nil
}
