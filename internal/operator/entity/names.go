package entity

// NameOr returns the name of the spec, or that of the resource.
func NameOr(spec, resource string) string {
	if spec != "" {
		return spec
	}
	return resource
}
