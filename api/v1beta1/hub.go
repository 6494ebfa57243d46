package v1beta1

// Hub marks the version that all others are converted to and from.
func (*Enterprise) Hub() {}

// Hub marks the version that all others are converted to and from.
func (*Organization) Hub() {}

// Hub marks the version that all others are converted to and from.
func (*Repository) Hub() {}

// Hub marks the version that all others are converted to and from.
func (*Pool) Hub() {}

// Hub marks the version that all others are converted to and from.
func (*Image) Hub() {}

// Hub marks the version that all others are converted to and from.
func (*Runner) Hub() {}
